#include <cstdio>
#include <stdexcept>
#include <unordered_map>

#include <grpcpp/grpcpp.h>

#include "proto/etcd/v3/rpc.grpc.pb.h"
#include "services/store/tool/channel.h"
#include "services/store/tool/commands.h"

namespace apimesh::store::tool {
namespace {

using namespace etcdserverpb;

/// Writes the newest state to a running etcd: keys in the order of their last change, and their leases.
int ExportLive(const std::string& from, const std::string& to, const Arguments& arguments) {
  const auto source = OpenChannel(from, arguments), target = OpenChannel(to, arguments);
  const auto kv = KV::NewStub(source), target_kv = KV::NewStub(target);
  const auto leases = Lease::NewStub(source), target_leases = Lease::NewStub(target);
  RangeRequest all;
  all.set_key(std::string(1, '\0'));
  all.set_range_end(std::string(1, '\0'));
  all.set_sort_target(RangeRequest::MOD);
  all.set_sort_order(RangeRequest::ASCEND);
  RangeResponse found;
  ::grpc::ClientContext reading;
  Require(kv->Range(&reading, all, &found), "reading the store");
  std::unordered_map<std::int64_t, bool> granted;
  for (const auto& item : found.kvs()) {
    if (item.lease() != 0 && granted.emplace(item.lease(), true).second) {
      LeaseTimeToLiveRequest ask;
      ask.set_id(item.lease());
      LeaseTimeToLiveResponse lease;
      ::grpc::ClientContext asking;
      Require(leases->LeaseTimeToLive(&asking, ask, &lease), "reading a lease");
      LeaseGrantRequest grant;
      grant.set_id(item.lease());
      grant.set_ttl(lease.grantedttl());
      LeaseGrantResponse ignored;
      ::grpc::ClientContext granting;
      Require(target_leases->LeaseGrant(&granting, grant, &ignored), "granting a lease");
    }
    PutRequest put;
    put.set_key(item.key());
    put.set_value(item.value());
    put.set_lease(item.lease());
    PutResponse ignored;
    ::grpc::ClientContext writing;
    Require(target_kv->Put(&writing, put, &ignored), "writing to the target");
  }
  std::printf("exported %d keys of revision %ld to %s\n", found.kvs_size(),
              static_cast<long>(found.header().revision()), to.c_str());
  return 0;
}

}  // namespace

int RunExport(const std::vector<std::string>& words, const Clock& clock) {
  const Arguments arguments = Arguments::Parse(words, {"to", "snapshot", "endpoints", "cacert", "cert", "key"});
  const std::string from = arguments.Get("endpoints", "http://127.0.0.1:2379");
  // A snapshot keeps the revisions; `etcdutl snapshot restore` creates an etcd member from it.
  if (!arguments.Get("snapshot").empty()) {
    return RunSnapshot({"save", arguments.Get("snapshot"), "--endpoints", from, "--cacert", arguments.Get("cacert"),
                        "--cert", arguments.Get("cert"), "--key", arguments.Get("key")},
                       clock);
  }
  return ExportLive(from, arguments.Require("to"), arguments);
}

}  // namespace apimesh::store::tool
