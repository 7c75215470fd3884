#pragma once

#include <memory>
#include <string>

#include "lib/base/clock.h"
#include "lib/base/wipe.h"
#include "lib/http/client.h"
#include "lib/meta/errors/api_error.h"

namespace apimesh::console {

/// The credentials of one user at the API server.
struct Identity {
  std::shared_ptr<http::Client> client;  // presents the client certificate, if the user has one
  std::string server;                    // https://host:port
  http::Headers headers;                 // Authorization, Impersonate-User

  Identity() = default;
  Identity(const Identity&) = delete;
  ~Identity() {
    for (auto& [name, value] : headers) Wipe(value);
  }
};
using IdentityPtr = std::shared_ptr<const Identity>;

/// Makes identities from a kubeconfig. The file is read each time, because the launcher renews the certificate in it.
class Identities {
 public:
  Identities(std::string kubeconfig, const Clock& clock) : kubeconfig_(std::move(kubeconfig)), clock_(clock) {}

  /// The user of the current context.
  meta::Result<IdentityPtr> OfKubeconfig() const;
  /// A user with a bearer token. Nothing else of the kubeconfig's user is used. Does not check the token.
  meta::Result<IdentityPtr> OfToken(std::string_view token) const;

 private:
  const std::string kubeconfig_;
  const Clock& clock_;
};

}  // namespace apimesh::console
