#pragma once

#include <functional>
#include <memory>

#include "lib/storage/follower.h"

namespace apimesh::core_api {

/// Finds changes of IPAddresses that take an address away from a service that still uses it: a client has deleted or
/// changed the IPAddress.
class AddressWatch {
 public:
  /// `harmed` is called for such a change, and must return quickly.
  AddressWatch(storage::StorePtr addresses, storage::StorePtr services, std::function<void()> harmed);

  /// Runs until Stop().
  static Task<> Run(std::shared_ptr<AddressWatch> self);
  void Stop() { follower_->Stop(); }

 private:
  static Task<> Look(std::shared_ptr<AddressWatch> self, std::vector<storage::Event> events);
  /// Whether the service of this IPAddress exists and has the address.
  Task<bool> IsUsed(const storage::Entry& address) const;

  const storage::StorePtr services_;
  const std::function<void()> harmed_;
  const std::shared_ptr<storage::Follower> follower_;
};

}  // namespace apimesh::core_api
