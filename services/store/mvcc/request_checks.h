#pragma once

#include "services/store/net/status.h"

namespace etcdserverpb {
class DeleteRangeRequest;
class PutRequest;
class RangeRequest;
class TxnRequest;
}  // namespace etcdserverpb

namespace apimesh::store {

// Checks that need no access to the keys, with etcd's error messages.
Status CheckRange(const etcdserverpb::RangeRequest& request);
Status CheckPut(const etcdserverpb::PutRequest& request);
Status CheckDeleteRange(const etcdserverpb::DeleteRangeRequest& request);
/// Limits the number of operations, checks each of them, and rejects two writes to one key.
Status CheckTxn(const etcdserverpb::TxnRequest& request, int max_operations);
/// Returns whether no branch writes.
bool IsReadOnly(const etcdserverpb::TxnRequest& request);

}  // namespace apimesh::store
