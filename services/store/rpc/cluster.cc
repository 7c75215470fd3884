#include "proto/etcd/v3/rpc.pb.h"
#include "services/store/mvcc/errors.h"
#include "services/store/rpc/services.h"
#include "services/store/rpc/unary.h"

namespace apimesh::store {
namespace {

using namespace etcdserverpb;

std::string MemberListResponse(const Services& services) {
  std::string member;
  wire::AppendInteger(member, 1, services.identity.member_id);
  wire::AppendBytes(member, 2, services.identity.name);
  for (const std::string& url : services.identity.peer_urls) wire::AppendMessage(member, 3, url);
  for (const std::string& url : services.identity.client_urls) wire::AppendMessage(member, 4, url);
  std::string response;
  // The members do not depend on a revision, and etcd says none.
  wire::AppendMessage(response, 1, services.identity.Header(0));
  wire::AppendMessage(response, 2, member);
  return response;
}

Method Refuse(Status status) {
  return UnaryBytes([status](const CallPtr& call, std::string_view) { call->Finish(status); });
}

}  // namespace

// One member for ever: a cluster that grows is a real etcd cluster.
void AddClusterMethods(Services& services, Methods& methods) {
  methods["/etcdserverpb.Cluster/MemberList"] = UnaryBytes(
      [&services](const CallPtr& call, std::string_view) { Answer(call, MemberListResponse(services)); });
  methods["/etcdserverpb.Cluster/MemberAdd"] =
      Refuse({Status::kFailedPrecondition, "etcdserver: the embedded store is a cluster of one; export to etcd to grow"});
  methods["/etcdserverpb.Cluster/MemberUpdate"] = Refuse(errors::MemberNotFound());
  methods["/etcdserverpb.Cluster/MemberRemove"] = Refuse(errors::NotEnoughStartedMembers());
  methods["/etcdserverpb.Cluster/MemberPromote"] = Refuse(errors::MemberNotLearner());
  methods["/etcdserverpb.Auth/Authenticate"] = Refuse(errors::AuthNotEnabled());
  for (const char* method : {"/etcdserverpb.Auth/UserList", "/etcdserverpb.Auth/RoleList"}) {
    methods[method] = UnaryBytes([&services](const CallPtr& call, std::string_view) {
      std::string response;
      wire::AppendMessage(response, 1, services.identity.Header(services.store.Durable()));
      Answer(call, std::move(response));
    });
  }
  methods["/etcdserverpb.Auth/AuthStatus"] = UnaryBytes([&services](const CallPtr& call, std::string_view) {
    std::string response;
    wire::AppendMessage(response, 1, services.identity.Header(services.store.Durable()));
    wire::AppendInteger(response, 3, std::int64_t{1});  // the revision of an auth store that was never used
    Answer(call, std::move(response));
  });
}

}  // namespace apimesh::store
