#include <random>

#include "proto/etcd/v3/rpc.pb.h"
#include "services/store/mvcc/errors.h"
#include "services/store/rpc/services.h"
#include "services/store/rpc/unary.h"

namespace apimesh::store {
namespace {

using namespace etcdserverpb;

std::string HeaderField(const Services& services, Revision revision) {
  std::string out;
  wire::AppendMessage(out, 1, services.identity.Header(revision));
  return out;
}

LeaseId NewLeaseId(const Lessor& lessor) {
  static std::mt19937_64 random{std::random_device{}()};
  for (;;) {
    const auto id = static_cast<LeaseId>(random() >> 1);
    if (id != 0 && !lessor.Exists(id)) return id;
  }
}

void Grant(Services& services, const CallPtr& call, const LeaseGrantRequest& request) {
  if (!services.quota.Admit(0)) return call->Finish(errors::NoSpace());
  if (request.ttl() > Lessor::kMaxTtlSeconds) return call->Finish(errors::LeaseTtlTooLarge());
  const Lessor& lessor = services.store.lessor();
  if (request.id() != 0 && lessor.Exists(request.id())) return call->Finish(errors::LeaseExists());
  const LeaseId id = request.id() != 0 ? request.id() : NewLeaseId(lessor);
  const std::int64_t ttl = std::max(request.ttl(), Lessor::kMinTtlSeconds);
  services.store.Begin();
  services.store.GrantLease(id, ttl);
  services.store.End();
  std::string response = HeaderField(services, services.store.Applied());
  wire::AppendInteger(response, 2, id);
  wire::AppendInteger(response, 3, ttl);
  AnswerWhenDurable(services.store, call, std::move(response));
}

void Revoke(Services& services, const CallPtr& call, const LeaseRevokeRequest& request) {
  if (!services.store.lessor().Exists(request.id())) return call->Finish(errors::LeaseNotFound());
  services.store.Begin();
  services.store.RevokeLease(request.id());
  services.store.End();
  AnswerWhenDurable(services.store, call, HeaderField(services, services.store.Applied()));
}

void TimeToLive(Services& services, const CallPtr& call, const LeaseTimeToLiveRequest& request) {
  std::string response = HeaderField(services, services.store.Durable());
  wire::AppendInteger(response, 2, request.id());
  if (const auto info = services.store.lessor().Find(request.id())) {
    wire::AppendInteger(response, 3, info->remaining);
    wire::AppendInteger(response, 4, info->granted_ttl);
    if (request.keys()) {
      for (const std::string& key : *info->keys) wire::AppendMessage(response, 5, key);
    }
  } else {
    wire::AppendInteger(response, 3, std::int64_t{-1});
  }
  AnswerWhenDurable(services.store, call, std::move(response));
}

void List(Services& services, const CallPtr& call, const LeaseLeasesRequest&) {
  std::string response = HeaderField(services, services.store.Durable());
  for (const LeaseId id : services.store.lessor().All()) {
    std::string lease;
    wire::AppendInteger(lease, 1, id);
    wire::AppendMessage(response, 2, lease);
  }
  AnswerWhenDurable(services.store, call, std::move(response));
}

class KeepAlive final : public CallHandler {
 public:
  KeepAlive(Services& services, CallPtr call) : services_(services), call_(std::move(call)) {}

  void OnMessage(std::string_view message) override {
    LeaseKeepAliveRequest request;
    if (!request.ParseFromArray(message.data(), static_cast<int>(message.size()))) {
      return call_->Finish({Code::kInternal, "grpc: error unmarshalling request"});
    }
    std::string response = HeaderField(services_, services_.store.Durable());
    wire::AppendInteger(response, 2, request.id());
    wire::AppendInteger(response, 3, services_.store.lessor().Renew(request.id()).value_or(0));
    call_->Send(std::move(response));
  }
  void OnHalfClose() override { call_->Finish({}); }

 private:
  Services& services_;
  CallPtr call_;
};

}  // namespace

void AddLeaseMethods(Services& services, Methods& methods) {
  methods["/etcdserverpb.Lease/LeaseGrant"] = Bind(services, &Grant);
  methods["/etcdserverpb.Lease/LeaseRevoke"] = Bind(services, &Revoke);
  methods["/etcdserverpb.Lease/LeaseTimeToLive"] = Bind(services, &TimeToLive);
  methods["/etcdserverpb.Lease/LeaseLeases"] = Bind(services, &List);
  methods["/etcdserverpb.Lease/LeaseKeepAlive"] = [&services](const CallPtr& call) -> std::unique_ptr<CallHandler> {
    return std::make_unique<KeepAlive>(services, call);
  };
}

}  // namespace apimesh::store
