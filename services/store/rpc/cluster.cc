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

// No other member exists, and with the only one it cannot be done.
template <class Request>
Method RefuseOwn(const Services& services, Status status) {
  return Unary<Request>([&services, status](const CallPtr& call, const Request& request) {
    call->Finish(request.id() == services.identity.member_id ? status : errors::MemberNotFound());
  });
}

}  // namespace

// One member for ever: a cluster that grows is a real etcd cluster.
void AddClusterMethods(Services& services, Methods& methods) {
  methods["/etcdserverpb.Cluster/MemberList"] = UnaryBytes(
      [&services](const CallPtr& call, std::string_view) { Answer(call, MemberListResponse(services)); });
  methods["/etcdserverpb.Cluster/MemberAdd"] =
      Refuse({Status::kFailedPrecondition, "etcdserver: the embedded store is a cluster of one; export to etcd to grow"});
  methods["/etcdserverpb.Cluster/MemberUpdate"] = RefuseOwn<MemberUpdateRequest>(
      services, {Status::kFailedPrecondition, "etcdserver: the embedded store has no peer URLs but those of its flags"});
  methods["/etcdserverpb.Cluster/MemberRemove"] = RefuseOwn<MemberRemoveRequest>(services, errors::NotEnoughStartedMembers());
  methods["/etcdserverpb.Cluster/MemberPromote"] = RefuseOwn<MemberPromoteRequest>(services, errors::MemberNotLearner());
}

}  // namespace apimesh::store
