#pragma once

#include <shared_mutex>

#include "lib/rpc/delegate.h"
#include "services/authn-authz/state/object_sink.h"
#include "services/authn-authz/state/token_objects.h"

namespace apimesh::authn_authz {

/// TokenObjects fed by watches, with core-api as the second opinion on what they have not seen yet. Thread-safe.
class TokenObjectCache final : public TokenObjects, public std::enable_shared_from_this<TokenObjectCache> {
 public:
  /// `revoked` runs when an object that an accepted credential rested on is gone or changed. `core_api` may be null (tests).
  TokenObjectCache(std::shared_ptr<rpc::DelegateClient> core_api, std::function<void()> revoked, const Clock& clock);

  Task<meta::Result<TokenObject>> Get(TokenObjectKind kind, std::string ns, std::string name) override;
  std::optional<TokenObject> GetCached(TokenObjectKind kind, const std::string& ns, const std::string& name) const override;
  void NoteUse(const std::string& uid) override;

  /// Feeds this cache. For Secrets, one sink a type.
  std::unique_ptr<ObjectSink> NewSink(TokenObjectKind kind, std::string secret_type = "");

  void Set(TokenObjectKind kind, const std::string& ns, const std::string& name, TokenObject object);
  void Remove(TokenObjectKind kind, const std::string& ns, const std::string& name);
  std::vector<std::pair<std::string, std::string>> Names(TokenObjectKind kind, const std::string& secret_type) const;

 private:
  using Key = std::pair<std::string, std::string>;  // namespace, name
  bool WasUsed(const std::string& uid) const;

  const std::shared_ptr<rpc::DelegateClient> core_api_;
  const std::function<void()> revoked_;
  const Clock& clock_;
  mutable std::shared_mutex mutex_;
  std::map<Key, TokenObject> objects_[4];               // by kind; guarded by mutex_
  mutable std::mutex uses_mutex_;
  static constexpr std::size_t kPruneUsesAt = 10'000;
  std::unordered_map<std::string, SteadyTime> uses_;    // uid -> last use; guarded by uses_mutex_
  std::size_t prune_uses_at_ = kPruneUsesAt;            // guarded by uses_mutex_
};

/// What a token check needs of an object.
TokenObject ParseTokenObject(const boost::json::object& object);

}  // namespace apimesh::authn_authz
