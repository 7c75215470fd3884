#include "lib/mesh/callers.h"

#include "lib/mesh/methods.h"

namespace apimesh::mesh {
namespace {

constexpr const char* kDelegate = "/apimesh.mesh.v1.Delegate/";
constexpr const char* kAuthenticator = "/apimesh.mesh.v1.Authenticator/";
constexpr const char* kAuthorizer = "/apimesh.mesh.v1.Authorizer/";
constexpr const char* kHealth = "/grpc.health.v1.Health/";
constexpr const char* kExternalAuthorization = "/envoy.service.auth.v3.Authorization/Check";

struct Row {
  std::string_view server, caller;
  std::vector<std::string> methods;
};

const std::vector<Row>& Table() {
  static const std::vector<Row> rows = {
      {kCoreApi, kAggregator, {kDelegate}},  // requests of clients
      // Roles, bindings, accounts, pods: see OnlyReads(). The only write is the date in the label of a used token.
      {kCoreApi, kAuthnAuthz, {methods::kCall, methods::kStream, methods::kRecordUse}},
      {kCoreApi, kExtensionsApi, {methods::kCall, methods::kStream}},  // reads of admission plugins: see OnlyReads()
      {kExtensionsApi, kAggregator, {kDelegate}},                      // requests of clients
      {kExtensionsApi, kCoreApi, {kDelegate}},                         // requests that core-api delegates
      {kAuthnAuthz, kAggregator, {kAuthenticator, kAuthorizer}},       // every request
      {kAuthnAuthz, kCoreApi, {kAuthenticator, methods::kAuthorize, methods::kRules}},  // reviews, escalation checks
      {kAuthnAuthz, kExtensionsApi, {methods::kAuthorize}},                             // creation by update
      {kAuthnAuthz, kEnvoy, {kExternalAuthorization}},  // early refusal at the front proxy
  };
  return rows;
}

}  // namespace

std::vector<grpc::Caller> CallersOf(std::string_view server) {
  std::vector<grpc::Caller> callers;
  for (const Row& row : Table()) {
    if (row.server != server) continue;
    grpc::Caller& caller = callers.emplace_back(grpc::Caller{IdentityOf(row.caller), row.methods});
    caller.methods.emplace_back(kHealth);
  }
  return callers;
}

bool OnlyReads(std::string_view identity) {
  return identity == IdentityOf(kAuthnAuthz) || identity == IdentityOf(kExtensionsApi);
}

}  // namespace apimesh::mesh
