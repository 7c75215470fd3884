#include "services/authn-authz/authenticators/oidc/key_set.h"

#include <boost/asio/steady_timer.hpp>

#include "lib/base/log.h"
#include "lib/meta/object.h"

namespace apimesh::authn_authz {
namespace {

constexpr auto kFetchTimeout = std::chrono::seconds(10);
constexpr auto kFetchEvery = std::chrono::seconds(1);
constexpr auto kPoll = std::chrono::milliseconds(10);

}  // namespace

KeySet::KeySet(std::string issuer, std::string discovery_url, std::unique_ptr<http::Client> client, const Clock& clock)
    : issuer_(std::move(issuer)), discovery_url_(std::move(discovery_url)), client_(std::move(client)), clock_(clock) {}

Task<meta::Result<bool>> KeySet::Verifies(std::shared_ptr<const credentials::Jwt> token) {
  if (Knows(*token)) co_return true;
  CO_RETURN_IF_ERROR(co_await Refresh());
  co_return Knows(*token);
}
Task<meta::Result<>> KeySet::Load() { return Refresh(); }

bool KeySet::Knows(const credentials::Jwt& token) {
  std::shared_ptr<const Keys> keys;
  {
    const std::lock_guard lock(mutex_);
    keys = keys_;
  }
  if (!keys) return false;
  return std::any_of(keys->begin(), keys->end(), [&](const Key& key) {
    return (token.KeyId().empty() || key.id == token.KeyId()) && token.Verify(key.key);
  });
}

Task<meta::Result<>> KeySet::Refresh() {
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      if (!fetching_) {
        if (clock_.Steady() < next_fetch_) co_return keys_ ? meta::Result<>() : meta::Result<>(problem_);
        fetching_ = true;
        break;
      }
    }
    // Another call is already fetching: wait for its result.
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, kPoll);
    co_await timer.async_wait(boost::asio::use_awaitable);
  }
  auto fetched = co_await Fetch();
  const std::lock_guard lock(mutex_);
  fetching_ = false;
  next_fetch_ = clock_.Steady() + kFetchEvery;
  if (fetched) {
    keys_ = std::make_shared<const Keys>(std::move(*fetched));
    co_return meta::Result<>();
  }
  problem_ = fetched.error();
  log::Warning("keys of issuer {}: {}", issuer_, problem_.Message());
  co_return keys_ ? meta::Result<>() : meta::Result<>(problem_);
}

Task<meta::Result<KeySet::Keys>> KeySet::Fetch() {
  ASSIGN_OR_CO_RETURN(const boost::json::object document, co_await Get(discovery_url_));
  if (const std::string_view named = meta::FindString(document, "issuer"); named != issuer_) {
    co_return meta::InternalError(fmt::format(
        "oidc: issuer did not match the issuer returned by provider, expected \"{}\" got \"{}\"", issuer_, named));
  }
  const std::string uri(meta::FindString(document, "jwks_uri"));
  if (!uri.starts_with("https://")) co_return meta::InternalError("oidc: the provider's jwks_uri is not an https URL");
  ASSIGN_OR_CO_RETURN(const boost::json::object set, co_await Get(uri));
  Keys keys;
  if (const boost::json::value* list = meta::FindField(set, "keys"); list && list->is_array()) {
    for (const boost::json::value& value : list->get_array()) {
      if (!value.is_object() || meta::FindString(value.get_object(), "use") == "enc") continue;
      // Keys of unknown types are skipped; issuers may publish them for other uses.
      if (auto key = credentials::PublicKey::FromJwk(value.get_object())) {
        keys.push_back({std::string(meta::FindString(value.get_object(), "kid")), std::move(*key)});
      }
    }
  }
  if (keys.empty()) co_return meta::InternalError("oidc: the provider publishes no usable keys");
  co_return keys;
}

Task<meta::Result<boost::json::object>> KeySet::Get(std::string url) {
  http::Headers headers{{"accept", "application/json"}};
  auto response = co_await client_->Do("GET", url, std::move(headers), "", clock_.Steady() + kFetchTimeout);
  if (!response) co_return meta::InternalError(fmt::format("GET {}: {}", url, response.error().message));
  if (response->code != 200) co_return meta::InternalError(fmt::format("GET {}: {}", url, response->code));
  boost::system::error_code error;
  boost::json::value value = boost::json::parse(response->body, error);
  if (error || !value.is_object()) co_return meta::InternalError(fmt::format("GET {}: not a JSON object", url));
  co_return std::move(value.get_object());
}

}  // namespace apimesh::authn_authz
