#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "services/store/durability/base.h"
#include "services/store/mvcc/identity.h"

namespace apimesh::store {

/// Our data in the format of etcd's database file, which Snapshot sends and HashKV hashes. etcdctl, etcdutl and a real
/// etcd can read our snapshots, and we can read theirs.

/// The key of a change in etcd's "key" bucket: revision, '_', sub-revision, and 't' for a deletion.
std::string EtcdRevisionKey(const Change& change);
/// The value of that key: an encoded mvccpb.KeyValue.
std::string EtcdRecord(const Change& change);

/// Writes the complete contents of `view` as an etcd database.
void WriteEtcdSnapshot(const Base::View& view, const Identity& identity, const std::filesystem::path& path);

struct SnapshotSummary {
  std::uint32_t hash = 0;
  Revision revision = 0;
  std::uint64_t keys = 0;  // in all buckets, as etcdctl counts them
};
/// Returns what `etcdctl snapshot status` prints. Throws std::runtime_error if the file is not a snapshot.
SnapshotSummary ReadSnapshotSummary(const std::filesystem::path& path);
/// Fills a base from an etcd database and keeps its revisions and leases.
void RestoreEtcdSnapshot(const std::filesystem::path& path, Base& base);

std::uint32_t Crc32c(std::uint32_t crc, std::string_view bytes);

}  // namespace apimesh::store
