#include "services/authn-authz/state/legacy_token_uses.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "lib/base/log.h"
#include "lib/grpc/typed_call.h"
#include "lib/mesh/channel.h"
#include "lib/mesh/methods.h"
#include "lib/meta/time.h"
#include "proto/mesh/v1/legacy_tokens.pb.h"

namespace apimesh::authn_authz {
namespace {

constexpr std::chrono::seconds kTimeout{10};

Task<> Report(std::shared_ptr<grpc::Channel> channel, LegacyTokenUses::Use use, std::function<void(bool)> done,
              SteadyTime deadline) {
  mesh::v1::RecordUseRequest request;
  request.set_namespace_(use.ns);
  request.set_secret(use.secret);
  request.set_uid(use.uid);
  grpc::CallOptions options;
  options.deadline = deadline;
  const auto answer =
      co_await grpc::Unary<mesh::v1::RecordUseResponse>(channel, mesh::methods::kRecordUse, request, options);
  if (!answer.status.ok()) {
    log::Warning("the use of the token in secret {}/{} is not reported: {}", use.ns, use.secret, answer.status.message);
  }
  done(answer.status.ok() && answer.response.recorded());
}

}  // namespace

void LegacyTokenUses::Note(const std::string& ns, const std::string& name, const TokenObject& secret) {
  const WallTime now = clock_.Now();
  const std::string today = meta::FormatTime(now).substr(0, 10);
  // The clock of another server may be ahead.
  if (secret.last_used == today || secret.last_used == meta::FormatTime(now + std::chrono::hours(24)).substr(0, 10)) {
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    if (day_ != today) reported_.clear();
    day_ = today;
    if (!reported_.insert(secret.uid).second) return;
  }
  send_({ns, name, secret.uid}, [self = weak_from_this(), uid = secret.uid](bool recorded) {
    if (const auto uses = self.lock(); uses && !recorded) uses->Forget(uid);
  });
}

void LegacyTokenUses::Forget(const std::string& uid) {
  const std::lock_guard lock(mutex_);
  reported_.erase(uid);
}

LegacyTokenUses::Send SendToCoreApi(const mesh::Endpoint& core_api, boost::asio::any_io_executor executor,
                                    const Clock& clock) {
  return [channel = mesh::NewChannel(core_api, clock), executor = std::move(executor), clock = &clock](
             LegacyTokenUses::Use use, std::function<void(bool)> done) {
    boost::asio::co_spawn(executor, Report(channel, std::move(use), std::move(done), clock->Steady() + kTimeout),
                          boost::asio::detached);
  };
}

}  // namespace apimesh::authn_authz
