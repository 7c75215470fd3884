#pragma once

#include <optional>
#include <string>

#include "lib/base/secrets/one_time_secrets.h"
#include "services/console/cluster/identity.h"

namespace apimesh::console {

/// The time in which a one-time login must be used.
inline constexpr std::chrono::minutes kLoginLifetime{10};

/// Finds out whose session a login starts.
class Login {
 public:
  /// If `folder` is empty, there are no one-time logins.
  Login(const std::string& folder, std::shared_ptr<const Identities> identities, const Clock& clock);

  /// `document` is {"secret": …}, a one-time login, or {"token": …}, a bearer token that the API server accepts.
  Task<meta::Result<IdentityPtr>> Run(std::string document) const;

 private:
  meta::Result<IdentityPtr> WithSecret(std::string_view secret) const;
  Task<meta::Result<IdentityPtr>> WithToken(std::string token) const;

  const std::optional<OneTimeSecrets> secrets_;
  const std::shared_ptr<const Identities> identities_;
  const Clock& clock_;
};

}  // namespace apimesh::console
