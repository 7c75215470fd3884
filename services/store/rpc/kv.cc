#include "proto/etcd/v3/rpc.pb.h"
#include "services/store/mvcc/errors.h"
#include "services/store/mvcc/range.h"
#include "services/store/mvcc/request_checks.h"
#include "services/store/mvcc/txn.h"
#include "services/store/rpc/services.h"
#include "services/store/rpc/unary.h"
#include "services/store/watch/watch_stream.h"

namespace apimesh::store {
namespace {

using namespace etcdserverpb;

// etcd measures the request as it is replicated, which adds an envelope of about this size.
constexpr std::size_t kEnvelopeBytes = 20;

bool TooLarge(const Services& services, const google::protobuf::Message& request) {
  return request.ByteSizeLong() + kEnvelopeBytes > services.limits.max_request_bytes;
}

void Range(Services& services, const CallPtr& call, const RangeRequest& request) {
  ++services.metrics.ranges;
  if (Status status = CheckRange(request); !status.ok()) return call->Finish(status);
  const Revision newest = services.store.Durable();
  std::string response;
  const Status status = ExecuteRange(services.store, request, newest, services.identity.Header(newest), response);
  if (!status.ok()) return call->Finish(status);
  Answer(call, std::move(response));
}

void Put(Services& services, const CallPtr& call, const PutRequest& request) {
  ++services.metrics.puts;
  if (Status status = CheckPut(request); !status.ok()) return call->Finish(status);
  if (TooLarge(services, request)) return call->Finish(errors::RequestTooLarge());
  if (!services.quota.Admit(request.key().size() + request.value().size())) return call->Finish(errors::NoSpace());
  std::string response;
  const Status status = ExecutePut(services.store, services.identity, request, response);
  if (!status.ok()) return call->Finish(status);
  AnswerWhenDurable(services.store, call, std::move(response));
}

void DeleteRange(Services& services, const CallPtr& call, const DeleteRangeRequest& request) {
  ++services.metrics.deletes;
  if (Status status = CheckDeleteRange(request); !status.ok()) return call->Finish(status);
  if (TooLarge(services, request)) return call->Finish(errors::RequestTooLarge());
  std::string response;
  ExecuteDeleteRange(services.store, services.identity, request, response);
  AnswerWhenDurable(services.store, call, std::move(response));
}

std::size_t PutBytes(const google::protobuf::RepeatedPtrField<RequestOp>& ops);

std::size_t PutBytes(const TxnRequest& request) {
  return std::max(PutBytes(request.success()), PutBytes(request.failure()));
}

std::size_t PutBytes(const google::protobuf::RepeatedPtrField<RequestOp>& ops) {
  std::size_t bytes = 0;
  for (const RequestOp& op : ops) {
    if (op.has_request_put()) bytes += op.request_put().key().size() + op.request_put().value().size();
    if (op.has_request_txn()) bytes += PutBytes(op.request_txn());
  }
  return bytes;
}

void Txn(Services& services, const CallPtr& call, const TxnRequest& request) {
  ++services.metrics.txns;
  if (Status status = CheckTxn(request, services.limits.max_txn_operations); !status.ok()) return call->Finish(status);
  const bool read_only = IsReadOnly(request);
  if (!read_only && TooLarge(services, request)) return call->Finish(errors::RequestTooLarge());
  if (const std::size_t bytes = PutBytes(request); bytes > 0 && !services.quota.Admit(bytes)) {
    return call->Finish(errors::NoSpace());
  }
  std::string response;
  const Status status = ExecuteTxn(services.store, services.identity, request, read_only, response);
  if (!status.ok()) return call->Finish(status);
  if (read_only) return Answer(call, std::move(response));
  AnswerWhenDurable(services.store, call, std::move(response));
}

void Compact(Services& services, const CallPtr& call, const CompactionRequest& request) {
  std::string response;
  wire::AppendMessage(response, 1, services.identity.Header(services.store.Applied()));
  std::function<void()> physical;
  if (request.physical()) physical = [call, response] { Answer(call, response); };
  const Status status = services.store.Compact(request.revision(), physical);
  if (!status.ok()) return call->Finish(status);
  if (!request.physical()) AnswerWhenDurable(services.store, call, std::move(response));
}

}  // namespace

void AddKvMethods(Services& services, Methods& methods) {
  methods["/etcdserverpb.KV/Range"] = Bind(services, &Range);
  methods["/etcdserverpb.KV/Put"] = Bind(services, &Put);
  methods["/etcdserverpb.KV/DeleteRange"] = Bind(services, &DeleteRange);
  methods["/etcdserverpb.KV/Txn"] = Bind(services, &Txn);
  methods["/etcdserverpb.KV/Compact"] = Bind(services, &Compact);
}

void AddWatchMethods(Services& services, Methods& methods) {
  methods["/etcdserverpb.Watch/Watch"] = [&services](const CallPtr& call) -> std::unique_ptr<CallHandler> {
    return std::make_unique<WatchStream>(services.watches, call);
  };
}

}  // namespace apimesh::store
