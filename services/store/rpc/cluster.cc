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
  // The members do not depend on a revision, and etcd's response contains none.
  wire::AppendMessage(response, 1, services.identity.Header(0));
  wire::AppendMessage(response, 2, member);
  return response;
}

// There is no other member, and these operations are impossible with the only one.
template <class Request>
Method RefuseOwn(const Services& services, Status status) {
  return Unary<Request>([&services, status](const CallPtr& call, const Request& request) {
    call->Finish(request.id() == services.identity.member_id ? status : errors::MemberNotFound());
  });
}

}  // namespace

// The store always has one member. A replicated cluster needs a real etcd.
void AddClusterMethods(Services& services, Methods& methods) {
  methods["/etcdserverpb.Cluster/MemberList"] =
      UnaryBytes([&services](const CallPtr& call, std::string_view) { Answer(call, MemberListResponse(services)); });
  methods["/etcdserverpb.Cluster/MemberAdd"] =
      Refuse({Code::kFailedPrecondition, "etcdserver: the embedded store is a cluster of one; export to etcd to grow"});
  methods["/etcdserverpb.Cluster/MemberUpdate"] = RefuseOwn<MemberUpdateRequest>(
      services, {Code::kFailedPrecondition, "etcdserver: the embedded store has no peer URLs but those of its flags"});
  methods["/etcdserverpb.Cluster/MemberRemove"] =
      RefuseOwn<MemberRemoveRequest>(services, errors::NotEnoughStartedMembers());
  methods["/etcdserverpb.Cluster/MemberPromote"] =
      RefuseOwn<MemberPromoteRequest>(services, errors::MemberNotLearner());
}

}  // namespace apimesh::store
