#pragma once

namespace apimesh::store {

// The version of etcd whose API and behaviour the store provides; clients choose features by it.
inline constexpr const char* kEtcdVersion = "3.6.8";
inline constexpr const char* kClusterVersion = "3.6.0";
inline constexpr const char* kStorageVersion = "3.6.0";

}  // namespace apimesh::store
