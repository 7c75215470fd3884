#include "services/store/mvcc/errors.h"
#include "services/store/mvcc/wire.h"
#include "services/store/rpc/services.h"
#include "services/store/rpc/unary.h"

namespace apimesh::store {
namespace {

std::string HeaderOnly(const Services& services) {
  std::string response;
  wire::AppendMessage(response, 1, services.identity.Header(services.store.Durable()));
  return response;
}

}  // namespace

// Authentication is always off: responses are those of an etcd without users and roles, and adding some is rejected.
// Access to a store is controlled by client certificates or by the permissions of the Unix socket.
void AddAuthMethods(Services& services, Methods& methods) {
  const std::string prefix = "/etcdserverpb.Auth/";
  const Method empty =
      UnaryBytes([&services](const CallPtr& call, std::string_view) { Answer(call, HeaderOnly(services)); });
  for (const char* method : {"UserList", "RoleList", "AuthDisable"}) methods[prefix + method] = empty;
  methods[prefix + "AuthStatus"] = UnaryBytes([&services](const CallPtr& call, std::string_view) {
    std::string response = HeaderOnly(services);
    wire::AppendInteger(response, 3, std::int64_t{1});  // the revision of an auth store that was never used
    Answer(call, std::move(response));
  });
  methods[prefix + "AuthEnable"] = Refuse(errors::RootUserNotExist());
  methods[prefix + "Authenticate"] = Refuse(errors::AuthNotEnabled());
  for (const char* method : {"UserGet", "UserDelete", "UserChangePassword", "UserGrantRole", "UserRevokeRole"}) {
    methods[prefix + method] = Refuse(errors::UserNotFound());
  }
  for (const char* method : {"RoleGet", "RoleDelete", "RoleGrantPermission", "RoleRevokePermission"}) {
    methods[prefix + method] = Refuse(errors::RoleNotFound());
  }
  for (const char* method : {"UserAdd", "RoleAdd"}) {
    methods[prefix + method] = Refuse(
        {Code::kFailedPrecondition, "etcdserver: the embedded store has no users and roles; use client certificates"});
  }
}

}  // namespace apimesh::store
