// Links: services/store/mvcc/request_checks.cc base etcd_proto_messages
// Clients of the store may send any bytes as a request. HTTP/2 and gRPC's messages around it are fuzzed by
// lib/grpc/session_fuzz.cc.
#include <cstddef>
#include <cstdint>

#include "proto/etcd/v3/rpc.pb.h"
#include "services/store/mvcc/request_checks.h"

using namespace apimesh::store;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int length = static_cast<int>(size);
  if (etcdserverpb::RangeRequest range; range.ParseFromArray(data, length)) CheckRange(range);
  if (etcdserverpb::PutRequest put; put.ParseFromArray(data, length)) CheckPut(put);
  if (etcdserverpb::DeleteRangeRequest remove; remove.ParseFromArray(data, length)) CheckDeleteRange(remove);
  if (etcdserverpb::TxnRequest txn; txn.ParseFromArray(data, length)) {
    CheckTxn(txn, 128);
    IsReadOnly(txn);
  }
  if (etcdserverpb::WatchRequest watch; watch.ParseFromArray(data, length)) watch.SerializeAsString();
  return 0;
}
