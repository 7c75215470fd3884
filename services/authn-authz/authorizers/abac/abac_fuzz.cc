// Links: services/authn-authz/authorizers/abac/abac.cc services/authn-authz/authorizers/abac/policy_file.cc
// Links: services/authn-authz/authorizers/union.cc meta
#include "services/authn-authz/authorizers/abac/abac.h"

#include <cstddef>
#include <cstdint>

// A policy file is an operator's, but a bad one must give an error, not a crash.
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
