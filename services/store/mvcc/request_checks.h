#pragma once

#include "services/store/net/status.h"

namespace etcdserverpb {
class DeleteRangeRequest;
class PutRequest;
class RangeRequest;
class TxnRequest;
}  // namespace etcdserverpb

namespace apimesh::store {

// What can be said about a request without looking at the keys, as etcd says it.
Status CheckRange(const etcdserverpb::RangeRequest& request);
Status CheckPut(const etcdserverpb::PutRequest& request);
Status CheckDeleteRange(const etcdserverpb::DeleteRangeRequest& request);
/// Bounds the operations, checks each, and refuses two writes to one key.
Status CheckTxn(const etcdserverpb::TxnRequest& request, int max_operations);
/// No branch writes.
bool IsReadOnly(const etcdserverpb::TxnRequest& request);

}  // namespace apimesh::store
