#include "services/store/mvcc/txn.h"

#include <vector>

#include "proto/etcd/v3/rpc.pb.h"
#include "services/store/mvcc/errors.h"
#include "services/store/mvcc/range.h"
#include "services/store/mvcc/wire.h"

namespace apimesh::store {
namespace {

using etcdserverpb::Compare;
using etcdserverpb::DeleteRangeRequest;
using etcdserverpb::PutRequest;
using etcdserverpb::RequestOp;
using etcdserverpb::TxnRequest;

template <class T>
bool Holds(Compare::CompareResult result, const T& actual, const T& expected) {
  switch (result) {
    case Compare::EQUAL: return actual == expected;
    case Compare::NOT_EQUAL: return actual != expected;
    case Compare::GREATER: return actual > expected;
    case Compare::LESS: return actual < expected;
    default: return true;
  }
}

// Compares the field that the target names with the operand of that target. A missing operand is zero.
bool Holds(const Compare& compare, const Change& kv) {
  switch (compare.target()) {
    case Compare::VALUE: return Holds<std::string_view>(compare.result(), kv.value, compare.value());
    case Compare::CREATE: return Holds(compare.result(), kv.create, compare.create_revision());
    case Compare::MOD: return Holds(compare.result(), kv.id.main, compare.mod_revision());
    case Compare::VERSION: return Holds(compare.result(), kv.version, compare.version());
    case Compare::LEASE: return Holds(compare.result(), kv.lease, compare.lease());
    default: return true;
  }
}

/// One transaction over the state at one revision. The branches are chosen before anything is written.
class Execution {
 public:
  Execution(Store& store, Revision newest) : store_(store), newest_(newest) {}

  void Decide(const TxnRequest& txn) {
    const bool holds = std::ranges::all_of(txn.compare(), [this](const Compare& c) { return Evaluate(c); });
    path_.push_back(holds);
    for (const RequestOp& op : holds ? txn.success() : txn.failure()) {
      if (op.has_request_txn()) Decide(op.request_txn());
    }
  }

  /// Reports every possible error, so that Run() cannot fail after some of its writes.
  Status Check(const TxnRequest& txn) {
    std::size_t step = 0;
    return Check(txn, step);
  }

  std::string Run(const TxnRequest& txn, const Identity& identity) {
    std::size_t step = 0;
    std::string responses;
    Run(txn, step, responses);
    std::string out;
    wire::AppendMessage(out, 1, identity.Header(Now()));
    wire::AppendBool(out, 2, path_[0]);
    out += responses;
    return out;
  }

  Status CheckPutHere(const PutRequest& request) const;
  std::string PutBody(const PutRequest& request);
  std::string DeleteBody(const DeleteRangeRequest& request);
  Revision Now() const { return store_.Changed() ? store_.Applied() : newest_; }

 private:
  bool Evaluate(const Compare& compare) const {
    bool any = false, all = true;
    store_.index().Walk(compare.key(), compare.range_end(), [&](const KeyIndex::Entry& entry) {
      const KeyVersion* version = entry.At(newest_);
      if (version == nullptr) return true;
      any = true;
      Change kv{version->id, false, entry.key, {}, version->create, version->version, version->lease};
      if (compare.target() == Compare::VALUE) kv.value = store_.ValueOf(version->id);
      all = Holds(compare, kv);
      return all;
    });
    if (any) return all;
    return compare.target() != Compare::VALUE && Holds(compare, Change{});
  }

  Status Check(const TxnRequest& txn, std::size_t& step) {
    for (const RequestOp& op : path_[step++] ? txn.success() : txn.failure()) {
      Status status;
      if (op.has_request_range()) {
        const Revision revision = op.request_range().revision();
        if (revision > newest_) status = errors::FutureRevision();
        if (revision > 0 && revision < store_.Compacted()) status = errors::Compacted();
      } else if (op.has_request_put()) {
        status = CheckPutHere(op.request_put());
      } else if (op.has_request_txn()) {
        status = Check(op.request_txn(), step);
      }
      if (!status.ok()) return status;
    }
    return {};
  }

  void Run(const TxnRequest& txn, std::size_t& step, std::string& responses) {
    for (const RequestOp& op : path_[step++] ? txn.success() : txn.failure()) {
      std::string response;
      switch (op.request_case()) {
        case RequestOp::kRequestRange: {
          std::string range;
          ExecuteRange(store_, op.request_range(), Now(), InnerHeader(Now()), range);
          wire::AppendMessage(response, 1, range);
          break;
        }
        case RequestOp::kRequestPut: wire::AppendMessage(response, 2, PutBody(op.request_put())); break;
        case RequestOp::kRequestDeleteRange:
          wire::AppendMessage(response, 3, DeleteBody(op.request_delete_range()));
          break;
        case RequestOp::kRequestTxn: {
          const bool succeeded = path_[step];
          std::string inner_responses;
          Run(op.request_txn(), step, inner_responses);
          std::string inner;
          wire::AppendMessage(inner, 1, {});
          wire::AppendBool(inner, 2, succeeded);
          inner += inner_responses;
          wire::AppendMessage(response, 4, inner);
          break;
        }
        default: break;
      }
      wire::AppendMessage(responses, 3, response);
    }
  }

  Store& store_;
  Revision newest_;
  std::vector<bool> path_;  // for each transaction in order of appearance: whether its compares succeeded
};

Status Execution::CheckPutHere(const PutRequest& request) const {
  if ((request.ignore_value() || request.ignore_lease()) && !store_.Get(request.key(), newest_)) {
    return errors::KeyNotFound();
  }
  if (request.lease() != 0 && !store_.lessor().Exists(request.lease())) return errors::LeaseNotFound();
  return {};
}

std::string Execution::PutBody(const PutRequest& request) {
  std::string previous_kv;
  LeaseId lease = request.lease();
  std::string kept_value;
  if (request.ignore_value() || request.ignore_lease() || request.prev_kv()) {
    if (const auto previous = store_.Get(request.key(), Now())) {
      if (request.ignore_value()) kept_value = previous->value;
      if (request.ignore_lease()) lease = previous->lease;
      if (request.prev_kv()) wire::AppendKeyValue(previous_kv, 2, *previous);
    }
  }
  const Revision revision = store_.Put(request.key(), request.ignore_value() ? kept_value : request.value(), lease);
  std::string out;
  wire::AppendMessage(out, 1, InnerHeader(revision));
  return out + previous_kv;
}

std::string Execution::DeleteBody(const DeleteRangeRequest& request) {
  std::string previous_kvs;
  std::vector<std::string_view> keys;  // entries are not moved before a compaction
  store_.index().Walk(request.key(), request.range_end(), [&](const KeyIndex::Entry& entry) {
    const KeyVersion* version = entry.At(Now());
    if (version == nullptr) return true;
    keys.push_back(entry.key);
    if (request.prev_kv()) wire::AppendKeyValue(previous_kvs, 3, store_.WithValue(entry.key, *version));
    return true;
  });
  for (const std::string_view key : keys) store_.Delete(key);
  std::string out;
  wire::AppendMessage(out, 1, InnerHeader(Now()));
  wire::AppendInteger(out, 2, static_cast<std::int64_t>(keys.size()));
  return out + previous_kvs;
}

// The body begins with the inner header; a stand-alone response needs the full header instead.
std::string WithFullHeader(const std::string& body, const Identity& identity, Revision revision) {
  std::string out;
  wire::AppendMessage(out, 1, identity.Header(revision));
  // The inner header is short: its length has one byte.
  const std::size_t inner = 2 + static_cast<unsigned char>(body[1]);
  return out.append(body, inner);
}

}  // namespace

Status ExecutePut(Store& store, const Identity& identity, const PutRequest& request, std::string& out) {
  store.Begin();
  Execution execution(store, store.Applied());
  // A stand-alone put checks the lease first, a put in a transaction checks the key first.
  if (request.lease() != 0 && !store.lessor().Exists(request.lease())) return errors::LeaseNotFound();
  if (Status status = execution.CheckPutHere(request); !status.ok()) return status;
  const std::string body = execution.PutBody(request);
  store.End();
  out = WithFullHeader(body, identity, store.Applied());
  return {};
}

Status ExecuteDeleteRange(Store& store, const Identity& identity, const DeleteRangeRequest& request, std::string& out) {
  store.Begin();
  Execution execution(store, store.Applied());
  const std::string body = execution.DeleteBody(request);
  store.End();
  out = WithFullHeader(body, identity, store.Applied());
  return {};
}

Status ExecuteTxn(Store& store, const Identity& identity, const TxnRequest& request, bool read_only, std::string& out) {
  store.Begin();
  Execution execution(store, read_only ? store.Durable() : store.Applied());
  execution.Decide(request);
  if (Status status = execution.Check(request); !status.ok()) return status;
  out = execution.Run(request, identity);
  store.End();
  return {};
}

}  // namespace apimesh::store
