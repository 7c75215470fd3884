#include "lib/storage/continue_token.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include "lib/base/text/base64.h"

namespace apimesh::storage {
namespace {

constexpr std::string_view kVersion = "meta.k8s.io/v1";
constexpr std::size_t kMaxToken = 4096;

/// Returns whether a key could leave the prefix of the list or is not a normalised path.
bool Unclean(std::string_view key) {
  if (key.starts_with('/')) key.remove_prefix(1);
  for (std::size_t begin = 0; begin <= key.size();) {
    const std::size_t end = std::min(key.find('/', begin), key.size());
    const std::string_view step = key.substr(begin, end - begin);
    if (step.empty() || step == "." || step == "..") return true;
    begin = end + 1;
  }
  return false;
}

meta::ApiError Bad(std::string_view why) {
  return meta::BadRequest(fmt::format("invalid continue token: continue key is not valid{}", why));
}

}  // namespace

std::string ContinueToken::Encode() const {
  boost::json::object token;
  token["v"] = kVersion;
  token["rv"] = revision;
  token["start"] = "/" + start;
  return EncodeBase64Url(boost::json::serialize(token));
}

meta::Result<ContinueToken> ContinueToken::Decode(std::string_view text) {
  std::string bytes;
  const std::optional<std::size_t> wrong = text.size() <= kMaxToken ? DecodeLenientBase64Url(text, bytes) : kMaxToken;
  if (wrong) return Bad(fmt::format(": illegal base64 data at input byte {}", *wrong));
  boost::system::error_code error;
  const boost::json::value parsed = boost::json::parse(bytes, error);
  if (error || !parsed.is_object()) return Bad(": invalid character in token");
  const auto text_of = [&](std::string_view name) -> std::string_view {
    const boost::json::value* value = parsed.get_object().if_contains(name);
    return value && value->is_string() ? std::string_view(value->get_string()) : std::string_view();
  };
  if (text_of("v") != kVersion) {
    return Bad(fmt::format(": server does not recognize this encoded version {}", text_of("v")));
  }
  ContinueToken token;
  if (const auto* value = parsed.get_object().if_contains("rv"); value && value->is_int64())
    token.revision = value->get_int64();
  if (token.revision == 0) return Bad(": incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
  std::string_view start = text_of("start");
  if (start.empty()) return Bad(": encoded start key empty (version meta.k8s.io/v1)");
  if (Unclean(start)) return Bad(fmt::format(": {}", start));
  if (start.starts_with('/')) start.remove_prefix(1);
  token.start = start;
  return token;
}

}  // namespace apimesh::storage
