#pragma once

#include <shared_mutex>

#include "lib/mesh/delegate/delegate.h"
#include "lib/mesh/watch/object_sink.h"
#include "services/authn-authz/state/legacy_token_uses.h"
#include "services/authn-authz/state/token_objects.h"

namespace apimesh::authn_authz {

/// TokenObjects that are updated by watches. Objects that the watches have not delivered yet are read from core-api.
/// Thread-safe.
class TokenObjectCache final : public TokenObjects, public std::enable_shared_from_this<TokenObjectCache> {
 public:
  /// `revoked` runs when an object that was used for an accepted credential is deleted or changed. `core_api` may be
  /// nullptr (in tests).
  TokenObjectCache(std::shared_ptr<mesh::DelegateClient> core_api, std::function<void()> revoked, const Clock& clock);

  Task<meta::Result<TokenObject>> Get(TokenObjectKind kind, std::string ns, std::string name) override;
  std::optional<TokenObject> GetCached(TokenObjectKind kind, const std::string& ns,
                                       const std::string& name) const override;
  void NoteUse(const std::string& uid) override;
  void NoteLegacyToken(const std::string& ns, const std::string& name, const TokenObject& secret) override;
  /// Must be called before the cache is shared. Without it, uses of legacy tokens are not reported.
  void ReportLegacyTokens(std::shared_ptr<LegacyTokenUses> uses) { legacy_uses_ = std::move(uses); }

  /// Creates a sink that updates this cache. For Secrets, one sink per type is needed.
  std::unique_ptr<mesh::ObjectSink> NewSink(TokenObjectKind kind, std::string secret_type = "");

  void Set(TokenObjectKind kind, const std::string& ns, const std::string& name, TokenObject object);
  void Remove(TokenObjectKind kind, const std::string& ns, const std::string& name);
  std::vector<std::pair<std::string, std::string>> Names(TokenObjectKind kind, const std::string& secret_type) const;

 private:
  using Key = std::pair<std::string, std::string>;  // namespace, name
  bool WasUsed(const std::string& uid) const;

  const std::shared_ptr<mesh::DelegateClient> core_api_;
  const std::function<void()> revoked_;
  const Clock& clock_;
  std::shared_ptr<LegacyTokenUses> legacy_uses_;  // may be nullptr
  mutable std::shared_mutex mutex_;
  std::map<Key, TokenObject> objects_[4];  // indexed by kind; guarded by mutex_
  mutable std::mutex uses_mutex_;
  static constexpr std::size_t kPruneUsesAt = 10'000;
  std::unordered_map<std::string, SteadyTime> uses_;  // uid -> last use; guarded by uses_mutex_
  std::size_t prune_uses_at_ = kPruneUsesAt;          // guarded by uses_mutex_
};

/// Extracts the fields of an object that token checks need.
TokenObject ParseTokenObject(const boost::json::object& object);

}  // namespace apimesh::authn_authz
