#include "services/store/mvcc/request_checks.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "proto/etcd/v3/rpc.pb.h"
#include "services/store/mvcc/errors.h"

namespace apimesh::store {
namespace {

using etcdserverpb::RequestOp;
using etcdserverpb::TxnRequest;
using Ops = google::protobuf::RepeatedPtrField<RequestOp>;

struct Writes {
  std::set<std::string> puts;
  std::vector<std::pair<std::string, std::string>> deletes;  // [first, second); second empty: one key

  bool Deletes(const std::string& key) const {
    return std::ranges::any_of(deletes, [&](const auto& range) {
      // As in etcd, an end of "\0" (all keys from the first one on) does not overlap with any key here, so that a
      // transaction may delete everything and write new keys.
      return range.second.empty() ? key == range.first : key >= range.first && key < range.second;
    });
  }
};

bool Collect(const Ops& ops, Writes& writes);

// Both branches of an inner transaction may write the same key, because only one of them is executed.
bool CollectInner(const TxnRequest& txn, Writes& writes) {
  Writes then_writes, else_writes;
  if (!Collect(txn.success(), then_writes) || !Collect(txn.failure(), else_writes)) return false;
  for (const Writes* branch : {&then_writes, &else_writes}) {
    for (const std::string& key : branch->puts) {
      const bool from_other_branch = branch == &else_writes && then_writes.puts.contains(key);
      if ((writes.puts.contains(key) && !from_other_branch) || writes.Deletes(key)) return false;
      writes.puts.insert(key);
    }
  }
  for (const Writes* branch : {&then_writes, &else_writes}) {
    writes.deletes.insert(writes.deletes.end(), branch->deletes.begin(), branch->deletes.end());
  }
  return true;
}

bool Collect(const Ops& ops, Writes& writes) {
  for (const RequestOp& op : ops) {
    if (op.has_request_delete_range()) {
      writes.deletes.emplace_back(op.request_delete_range().key(), op.request_delete_range().range_end());
    }
  }
  for (const RequestOp& op : ops) {
    if (op.has_request_txn() && !CollectInner(op.request_txn(), writes)) return false;
  }
  for (const RequestOp& op : ops) {
    if (!op.has_request_put()) continue;
    const std::string& key = op.request_put().key();
    if (writes.Deletes(key) || !writes.puts.insert(key).second) return false;
  }
  return true;
}

Status CheckOperations(const TxnRequest& request, int max_operations);

Status CheckOp(const RequestOp& op, int max_operations) {
  switch (op.request_case()) {
    case RequestOp::kRequestRange: return CheckRange(op.request_range());
    case RequestOp::kRequestPut: return CheckPut(op.request_put());
    case RequestOp::kRequestDeleteRange: return CheckDeleteRange(op.request_delete_range());
    case RequestOp::kRequestTxn: return CheckOperations(op.request_txn(), max_operations);
    default: return errors::KeyNotFound();
  }
}

Status CheckOperations(const TxnRequest& request, int max_operations) {
  const int operations = std::max({request.compare_size(), request.success_size(), request.failure_size()});
  if (operations > max_operations) return errors::TooManyOps();
  for (const auto& compare : request.compare()) {
    if (compare.key().empty()) return errors::EmptyKey();
  }
  for (const Ops* ops : {&request.success(), &request.failure()}) {
    for (const RequestOp& op : *ops) {
      if (Status status = CheckOp(op, max_operations - operations); !status.ok()) return status;
    }
  }
  return {};
}

bool AnyWrites(const Ops& ops) {
  return std::ranges::any_of(ops, [](const RequestOp& op) {
    return op.has_request_put() || op.has_request_delete_range() ||
           (op.has_request_txn() && !IsReadOnly(op.request_txn()));
  });
}

}  // namespace

Status CheckRange(const etcdserverpb::RangeRequest& request) {
  if (request.key().empty()) return errors::EmptyKey();
  if (!etcdserverpb::RangeRequest::SortOrder_IsValid(request.sort_order()) ||
      !etcdserverpb::RangeRequest::SortTarget_IsValid(request.sort_target())) {
    return errors::InvalidSortOption();
  }
  return {};
}

Status CheckPut(const etcdserverpb::PutRequest& request) {
  if (request.key().empty()) return errors::EmptyKey();
  if (request.ignore_value() && !request.value().empty()) return errors::ValueProvided();
  if (request.ignore_lease() && request.lease() != 0) return errors::LeaseProvided();
  return {};
}

Status CheckDeleteRange(const etcdserverpb::DeleteRangeRequest& request) {
  return request.key().empty() ? errors::EmptyKey() : Status{};
}

Status CheckTxn(const TxnRequest& request, int max_operations) {
  if (Status status = CheckOperations(request, max_operations); !status.ok()) return status;
  for (const Ops* ops : {&request.success(), &request.failure()}) {
    Writes writes;
    if (!Collect(*ops, writes)) return errors::DuplicateKey();
  }
  return {};
}

bool IsReadOnly(const TxnRequest& request) { return !AnyWrites(request.success()) && !AnyWrites(request.failure()); }

}  // namespace apimesh::store
