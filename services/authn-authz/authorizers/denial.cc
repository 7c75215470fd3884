#include "services/authn-authz/authorizers/denial.h"

#include "lib/meta/errors/field_error.h"

namespace apimesh::authn_authz {

std::string DenialText(const Attributes& a) {
  using meta::Quoted;
  if (!a.is_resource_request)
    return fmt::format("User {} cannot {} path {}", Quoted(a.user.name), a.verb.Text(), Quoted(a.path));
  const std::string resource = a.subresource.empty() ? a.resource : a.resource + "/" + a.subresource;
  const std::string start = fmt::format("User {} cannot {} resource {} in API group {}", Quoted(a.user.name),
                                        a.verb.Text(), Quoted(resource), Quoted(a.api_group));
  return a.ns.empty() ? start + " at the cluster scope" : fmt::format("{} in the namespace {}", start, Quoted(a.ns));
}

}  // namespace apimesh::authn_authz
