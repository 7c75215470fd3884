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

// Runs writes; `out` gets the encoded response, which the caller sends once Store::WhenDurable() says so.
Status ExecutePut(Store& store, const Identity& identity, const etcdserverpb::PutRequest& request, std::string& out);
Status ExecuteDeleteRange(Store& store, const Identity& identity, const etcdserverpb::DeleteRangeRequest& request,
                          std::string& out);
/// Compares, then one branch, atomically and in one revision. A transaction that writes in no branch runs on what
/// readers see and need not wait.
Status ExecuteTxn(Store& store, const Identity& identity, const etcdserverpb::TxnRequest& request, bool read_only,
                  std::string& out);

}  // namespace apimesh::store
