#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "lib/base/async/task.h"
#include "lib/base/clock.h"
#include "lib/meta/errors/api_error.h"

namespace apimesh::authn_authz {

/// The user agent of requests to core-api.
inline constexpr std::string_view kUserAgent = "apimesh-authn-authz";

enum class TokenObjectKind { kServiceAccount, kSecret, kPod, kNode };

/// The fields of an object that token checks need.
struct TokenObject {
  std::string uid;
  std::optional<WallTime> deleted_at;       // metadata.deletionTimestamp
  std::string type;                         // Secret only
  std::map<std::string, std::string> data;  // Secret only, decoded; never logged
  bool marked_invalid = false;              // Secret only: label kubernetes.io/legacy-token-invalid-since
  std::string last_used = {};               // Secret only: label kubernetes.io/legacy-token-last-used
};

/// The objects that tokens refer to. Thread-safe.
class TokenObjects {
 public:
  virtual ~TokenObjects() = default;
  /// Returns the object, or NotFound. Reads from core-api if the watch has not delivered the object, which may have
  /// just been created.
  virtual Task<meta::Result<TokenObject>> Get(TokenObjectKind kind, std::string ns, std::string name) = 0;
  /// Returns only objects that the watch has delivered.
  virtual std::optional<TokenObject> GetCached(TokenObjectKind kind, const std::string& ns,
                                               const std::string& name) const = 0;
  /// Records that a credential that depends on the object with this uid was accepted, so that caches are invalidated
  /// when the object changes.
  virtual void NoteUse(const std::string& uid) = 0;
  /// Records that the legacy token in this Secret was presented, which is written to the label of the Secret.
  virtual void NoteLegacyToken(const std::string& ns, const std::string& name, const TokenObject& secret) = 0;
};

}  // namespace apimesh::authn_authz
