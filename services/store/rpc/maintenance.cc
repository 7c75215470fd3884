#include "lib/base/log.h"
#include "proto/etcd/v3/rpc.pb.h"
#include "services/store/bolt/etcd_snapshot.h"
#include "services/store/maintenance/hash.h"
#include "services/store/maintenance/version.h"
#include "services/store/mvcc/errors.h"
#include "services/store/rpc/services.h"
#include "services/store/rpc/unary.h"

namespace apimesh::store {
namespace {

using namespace etcdserverpb;

void FillHeader(const Services& services, ResponseHeader& header) {
  header.set_cluster_id(services.identity.cluster_id);
  header.set_member_id(services.identity.member_id);
  header.set_raft_term(services.identity.term);
  header.set_revision(services.store.Durable());
}

void GetStatus(Services& services, const CallPtr& call, const StatusRequest&) {
  StatusResponse response;
  FillHeader(services, *response.mutable_header());
  response.set_version(kEtcdVersion);
  response.set_storageversion(kStorageVersion);
  response.set_dbsize(static_cast<std::int64_t>(services.quota.Used()));
  response.set_dbsizeinuse(
      static_cast<std::int64_t>(services.journal.base().UsedBytes() + services.journal.LogBytes()));
  response.set_dbsizequota(services.quota.Bytes());
  response.set_leader(services.identity.member_id);
  response.set_raftterm(services.identity.term);
  response.set_raftindex(services.journal.LastSequence());
  response.set_raftappliedindex(services.journal.LastSequence());
  response.mutable_downgradeinfo();
  if (services.store.NoSpaceAlarm()) {
    response.add_errors(fmt::format("memberID:{} alarm:NOSPACE ", services.identity.member_id));
  }
  Answer(call, response.SerializeAsString());
}

void Alarm(Services& services, const CallPtr& call, const AlarmRequest& request) {
  Store& store = services.store;
  const bool concerns_space = request.alarm() == NOSPACE || request.alarm() == NONE;
  bool named = store.NoSpaceAlarm() && concerns_space;
  if (request.action() != AlarmRequest::GET && concerns_space) {
    const bool active = request.action() == AlarmRequest::ACTIVATE;
    named = active || store.NoSpaceAlarm();  // the response also lists an alarm that this request clears
    if (store.NoSpaceAlarm() != active) {
      store.Begin();
      store.SetNoSpaceAlarm(active);
      store.End();
    }
  }
  AlarmResponse response;
  FillHeader(services, *response.mutable_header());
  if (named) {
    AlarmMember* alarm = response.add_alarms();
    alarm->set_memberid(services.identity.member_id);
    alarm->set_alarm(NOSPACE);
  }
  AnswerWhenDurable(store, call, response.SerializeAsString());
}

void Defragment(Services& services, const CallPtr& call, const DefragmentRequest&) {
  services.journal.Defragment([call] { Answer(call, {}); });
}

void HashKv(Services& services, const CallPtr& call, const HashKVRequest& request) {
  const Store& store = services.store;
  const Revision now = store.Durable(), compacted = store.Compacted();
  if (request.revision() > now) return call->Finish(errors::FutureRevision());
  if (request.revision() > 0 && request.revision() < compacted) return call->Finish(errors::Compacted());
  const Revision revision = request.revision() > 0 ? request.revision() : now;
  const auto hash = std::make_shared<std::uint32_t>(0);
  const auto superseded =
      compacted > 0 ? SupersededVersions(store.index(), compacted, revision) : std::vector<ChangeId>{};
  const auto compute = [=](const Base::View& view) { *hash = HashKv(view, compacted, revision, superseded); };
  services.journal.RunWithView(compute, [&services, call, hash, compacted, revision, now] {
    HashKVResponse response;
    FillHeader(services, *response.mutable_header());
    response.mutable_header()->set_revision(now);
    response.set_hash(*hash);
    response.set_compact_revision(compacted > 0 ? compacted : -1);
    response.set_hash_revision(revision);
    Answer(call, response.SerializeAsString());
  });
}

// etcd hashes its complete database file including its layout, so this number is comparable between our stores only.
void Hash(Services& services, const CallPtr& call, const HashRequest&) {
  const auto hash = std::make_shared<std::uint32_t>(0);
  const auto compute = [hash](const Base::View& view) {
    *hash = HashKv(view, 0, std::numeric_limits<Revision>::max(), {});
    view.Leases([&](LeaseId id, std::int64_t ttl) { *hash = Crc32c(*hash, fmt::format("{}:{};", id, ttl)); });
  };
  services.journal.RunWithView(compute, [&services, call, hash] {
    HashResponse response;
    FillHeader(services, *response.mutable_header());
    response.set_hash(*hash);
    Answer(call, response.SerializeAsString());
  });
}

}  // namespace

void AddMaintenanceMethods(Services& services, Methods& methods) {
  methods["/etcdserverpb.Maintenance/Status"] = Bind(services, &GetStatus);
  methods["/etcdserverpb.Maintenance/Alarm"] = Bind(services, &Alarm);
  methods["/etcdserverpb.Maintenance/Defragment"] = Bind(services, &Defragment);
  methods["/etcdserverpb.Maintenance/HashKV"] = Bind(services, &HashKv);
  methods["/etcdserverpb.Maintenance/Hash"] = Bind(services, &Hash);
  methods["/etcdserverpb.Maintenance/MoveLeader"] =
      UnaryBytes([](const CallPtr& call, std::string_view) { call->Finish(errors::BadLeaderTransferee()); });
}

}  // namespace apimesh::store
