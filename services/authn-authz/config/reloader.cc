#include "services/authn-authz/config/reloader.h"

#include <boost/asio/steady_timer.hpp>
#include <openssl/sha.h>
#include <unistd.h>

#include "lib/base/hash/hex.h"
#include "lib/base/log.h"
#include "services/authn-authz/config/file.h"

namespace apimesh::authn_authz {
namespace {

constexpr std::chrono::seconds kLookEvery{1};

std::string Sha256(std::string_view text) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  return digest;
}

std::string HashLabel(std::string_view text) {
  const std::string digest = Sha256(text);
  return "sha256:" + Hex({reinterpret_cast<const unsigned char*>(digest.data()), digest.size()});
}

// The identity of this machine's API server, computed as in kube-apiserver: half a hash of the host name, in base32.
std::string ServerIdentity() {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  const std::string digest = Sha256(host).substr(0, 16);
  std::string id = "apiserver-";
  unsigned int bits = 0, count = 0;
  for (const unsigned char c : digest) {
    bits = bits << 8 | c;
    for (count += 8; count >= 5; count -= 5) id += "abcdefghijklmnopqrstuvwxyz234567"[bits >> (count - 5) & 31];
  }
  if (count > 0) id += "abcdefghijklmnopqrstuvwxyz234567"[bits << (5 - count) & 31];
  return id;
}

}  // namespace

ConfigReloader::ConfigReloader(std::string file, std::string controller, Apply apply, service::Metrics& metrics,
                               const Clock& clock)
    : file_(std::move(file)),
      controller_(std::move(controller)),
      identity_(HashLabel(ServerIdentity())),
      apply_(std::move(apply)),
      metrics_(metrics),
      clock_(clock) {
  if (auto contents = ReadFile(file_)) known_ = std::move(*contents);
  RecordInfo(known_);
}

Task<> ConfigReloader::Run() {
  boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
  for (;;) {
    timer.expires_after(kLookEvery);
    co_await timer.async_wait(boost::asio::use_awaitable);
    co_await CheckOnce();
  }
}

Task<> ConfigReloader::CheckOnce() {
  auto contents = ReadFile(file_);
  if (!contents) {
    log::Error("reading {} again: {}", file_, contents.error().Message());
    Record(false);
    co_return;
  }
  if (*contents == known_) co_return;
  const auto applied = co_await apply_(*contents);
  Record(applied.has_value());
  if (!applied) {
    log::Error("{} has changed and can't be used, what was in use stays: {}", file_, applied.error().Message());
    if (applied.error().Code() == 503) co_return;
  } else {
    log::Info("{} has changed and is in use", file_);
    RecordInfo(*contents);
  }
  known_ = std::move(*contents);
}

void ConfigReloader::Record(bool success) {
  const service::Labels labels{{"status", success ? "success" : "failure"}, {"apiserver_id_hash", identity_}};
  const std::string prefix = "apiserver_" + controller_;
  metrics_.GetCounter(prefix + "_automatic_reloads_total", "How often the file was read again.", labels).Add();
  const double now = std::chrono::duration<double>(clock_.Now().time_since_epoch()).count();
  metrics_.GetGauge(prefix + "_automatic_reload_last_timestamp_seconds", "When it was last read again.", labels)
      .Set(now);
}

void ConfigReloader::RecordInfo(const std::string& contents) {
  const auto gauge = [this](const std::string& hash) {
    return metrics_.GetGauge("apiserver_" + controller_ + "_last_config_info", "The contents in use, by hash.",
                             {{"apiserver_id_hash", identity_}, {"hash", hash}});
  };
  if (!info_hash_.empty()) gauge(info_hash_).Set(0);
  info_hash_ = HashLabel(contents);
  gauge(info_hash_).Set(1);
}

}  // namespace apimesh::authn_authz
