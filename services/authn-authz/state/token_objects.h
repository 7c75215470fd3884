#pragma once

#include <map>
#include <optional>
#include <string>

#include "lib/base/clock.h"
#include "lib/base/task.h"
#include "lib/meta/api_error.h"

namespace apimesh::authn_authz {

enum class TokenObjectKind { kServiceAccount, kSecret, kPod, kNode };

/// As much of an object as a token check asks for.
struct TokenObject {
  std::string uid;
  std::optional<WallTime> deleted_at;          // metadata.deletionTimestamp
  std::string type;                            // Secret only
  std::map<std::string, std::string> data;     // Secret only, decoded; never logged
  bool marked_invalid = false;                 // Secret only: label kubernetes.io/legacy-token-invalid-since
};

/// The objects tokens rest on. Thread-safe.
class TokenObjects {
 public:
  virtual ~TokenObjects() = default;
  /// NotFound if it is not there. May ask core-api when the watch has not seen the object (it may be brand new).
  virtual Task<meta::Result<TokenObject>> Get(TokenObjectKind kind, std::string ns, std::string name) = 0;
  /// Only what the watch has seen.
  virtual std::optional<TokenObject> GetCached(TokenObjectKind kind, const std::string& ns, const std::string& name) const = 0;
  /// A credential that rests on the object with this uid was just accepted: its end must reach the caches.
  virtual void NoteUse(const std::string& uid) = 0;
};

}  // namespace apimesh::authn_authz
