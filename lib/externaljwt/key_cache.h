#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "lib/externaljwt/signer_service.h"

namespace apimesh {
class Wakeup;
}

namespace apimesh::externaljwt {

using KeySetPtr = std::shared_ptr<const KeySet>;

/// The keys of an external signer. A loop fetches them again when the signer's refresh hint says so, 10 s after a
/// failed fetch, and when a token names an unknown key. If a fetch fails, the previous keys stay valid. Thread-safe.
class KeyCache final : public std::enable_shared_from_this<KeyCache> {
 public:
  KeyCache(std::shared_ptr<SignerService> service, KeySet first, const Clock& clock,
           std::shared_ptr<CallMetrics> metrics);

  KeySetPtr Now() const;
  /// Returns the keys with this id, all keys if it is empty. If there is none, it waits for a fetch, for 10 s at most.
  /// Any number of callers share a fetch, and there are at most 10 fetches per second.
  Task<std::vector<Key>> Find(std::string id);
  /// Returns the time until the next fetch, in whole seconds; 0 if it is overdue.
  std::int64_t SecondsToRefresh() const;
  /// `changed` is called from the loop after each fetch that changed the keys. It must be set before Start().
  void OnChange(std::function<void()> changed);

  void Start(boost::asio::any_io_executor executor);
  void Stop();

 private:
  static Task<> Run(std::shared_ptr<KeyCache> self);
  Task<bool> Fetch();
  Task<> WaitForFetch();
  std::vector<Key> Known(const std::string& id) const;

  const std::shared_ptr<SignerService> service_;
  const Clock& clock_;
  const std::shared_ptr<CallMetrics> metrics_;
  mutable std::mutex mutex_;
  KeySetPtr keys_;  // guarded by mutex_, as all below; never nullptr
  std::vector<std::function<void()>> listeners_;
  std::vector<std::shared_ptr<Wakeup>> waiting_;  // callers that wait for the next fetch to end
  std::shared_ptr<Wakeup> asleep_;                // set while the loop sleeps
  bool wanted_ = false;                           // a caller waits for a fetch
  bool stopped_ = false;
};

/// Returns the keys of `set` with this id, all keys if it is empty.
std::vector<Key> WithId(const KeySet& set, const std::string& id);

}  // namespace apimesh::externaljwt
