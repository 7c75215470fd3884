// Links: services/authn-authz/authorizers/abac/abac.cc services/authn-authz/authorizers/abac/policy_file.cc
// Links: services/authn-authz/authorizers/union.cc meta
#include <cstddef>
#include <cstdint>

#include "services/authn-authz/authorizers/abac/abac.h"

// Policy files come from the operator. An invalid file must yield an error, not a crash.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace apimesh::authn_authz;
  auto policies = ParseAbacFile({reinterpret_cast<const char*>(data), size}, "policy");
  if (!policies) return 0;
  Attributes attributes;
  attributes.user.name = "x";
  attributes.path = "/healthz";
  NewAbac(std::move(*policies))->DecideNow(attributes);
  return 0;
}
