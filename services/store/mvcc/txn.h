#pragma once

#include <string>

#include "services/store/mvcc/identity.h"
#include "services/store/mvcc/store.h"

namespace etcdserverpb {
class DeleteRangeRequest;
class PutRequest;
class TxnRequest;
}  // namespace etcdserverpb

namespace apimesh::store {

// Execute writes. `out` receives the encoded response, which the caller sends when Store::WhenDurable() runs its
// callback.
Status ExecutePut(Store& store, const Identity& identity, const etcdserverpb::PutRequest& request, std::string& out);
Status ExecuteDeleteRange(Store& store, const Identity& identity, const etcdserverpb::DeleteRangeRequest& request,
                          std::string& out);
/// Evaluates the compares and executes one branch, atomically and in one revision. A transaction without writes in any
/// branch runs on the durable state, so its response need not wait.
Status ExecuteTxn(Store& store, const Identity& identity, const etcdserverpb::TxnRequest& request, bool read_only,
                  std::string& out);

}  // namespace apimesh::store
