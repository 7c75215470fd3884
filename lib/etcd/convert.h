#pragma once

#include "lib/etcd/client.h"
#include "proto/etcd/v3/rpc.pb.h"

namespace apimesh::etcd {

// Conversions from protobuf messages to our types. The bytes of keys and values are moved, not copied.

inline KeyValue ToKeyValue(mvccpb::KeyValue& kv) {
  return {std::move(*kv.mutable_key()),
          std::move(*kv.mutable_value()),
          kv.create_revision(),
          kv.mod_revision(),
          kv.version(),
          kv.lease()};
}

inline WatchEvent ToEvent(mvccpb::Event& event) {
  WatchEvent result;
  result.deleted = event.type() == mvccpb::Event::DELETE;
  result.kv = ToKeyValue(*event.mutable_kv());
  if (event.has_prev_kv()) result.previous = ToKeyValue(*event.mutable_prev_kv());
  return result;
}

inline RangeResult ToRange(etcdserverpb::RangeResponse& response) {
  RangeResult result;
  result.revision = response.header().revision();
  result.more = response.more();
  result.count = response.count();
  result.kvs.reserve(response.kvs_size());
  for (mvccpb::KeyValue& kv : *response.mutable_kvs()) result.kvs.push_back(ToKeyValue(kv));
  return result;
}

}  // namespace apimesh::etcd
