#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include <boost/asio/any_io_executor.hpp>

#include "lib/mesh/delegate/delegate.h"
#include "services/authn-authz/state/token_objects.h"

namespace apimesh::authn_authz {

/// Reports the use of legacy service-account tokens, whose Secrets are then labelled with the date: at most once per
/// day and Secret, and again after a report that failed. Thread-safe.
class LegacyTokenUses : public std::enable_shared_from_this<LegacyTokenUses> {
 public:
  struct Use {
    std::string ns, secret, uid;
  };
  /// Sends a report and then calls `done`, from any thread, with whether the use is recorded. Must not block.
  using Send = std::function<void(Use use, std::function<void(bool recorded)> done)>;
  LegacyTokenUses(Send send, const Clock& clock) : send_(std::move(send)), clock_(clock) {}

  /// Nothing is sent if the label of the Secret has the current date already, or the next one.
  void Note(const std::string& ns, const std::string& name, const TokenObject& secret);

 private:
  void Forget(const std::string& uid);

  const Send send_;
  const Clock& clock_;
  std::mutex mutex_;
  std::string day_;                 // guarded by mutex_, as reported_
  std::set<std::string> reported_;  // uids of the Secrets that were reported on day_
};

/// Sends reports to core-api, on `executor`.
LegacyTokenUses::Send SendToCoreApi(const mesh::Endpoint& core_api, boost::asio::any_io_executor executor,
                                    const Clock& clock);

}  // namespace apimesh::authn_authz
