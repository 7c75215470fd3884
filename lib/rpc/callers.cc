#include "lib/rpc/callers.h"

#include "lib/rpc/methods.h"

namespace apimesh::rpc {
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
      {kCoreApi, kAggregator, {kDelegate}},                               // requests of clients
      {kCoreApi, kAuthnAuthz, {methods::kCall, methods::kStream}},        // roles, bindings, accounts, pods: see OnlyReads()
      {kExtensionsApi, kAggregator, {kDelegate}},                         // requests of clients
      {kExtensionsApi, kCoreApi, {kDelegate}},                            // what core-api passes down the chain
      {kAuthnAuthz, kAggregator, {kAuthenticator, kAuthorizer}},          // every request
      {kAuthnAuthz, kCoreApi, {kAuthenticator, methods::kAuthorize, methods::kRules}},  // reviews, escalation checks
      {kAuthnAuthz, kExtensionsApi, {methods::kAuthorize}},               // creation by update
      {kAuthnAuthz, kEnvoy, {kExternalAuthorization}},                    // early refusal at the front proxy
  };
  return rows;
}

}  // namespace

std::vector<h2::Caller> CallersOf(std::string_view server) {
  std::vector<h2::Caller> callers;
  for (const Row& row : Table()) {
    if (row.server != server) continue;
    h2::Caller& caller = callers.emplace_back(h2::Caller{IdentityOf(row.caller), row.methods});
    caller.methods.emplace_back(kHealth);
  }
  return callers;
}

bool OnlyReads(std::string_view identity) { return identity == IdentityOf(kAuthnAuthz); }

}  // namespace apimesh::rpc
