#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "services/store/durability/base.h"
#include "services/store/mvcc/identity.h"

namespace apimesh::store {

/// Our data as etcd keeps it in its database file: what Snapshot sends and HashKV sums up, so that etcdctl, etcdutl and
/// a real etcd can read our snapshots, and we theirs.

/// The key of a change in etcd's "key" bucket: revision, '_', sub-revision, and 't' for a deletion.
std::string EtcdRevisionKey(const Change& change);
/// Its value: an encoded mvccpb.KeyValue.
std::string EtcdRecord(const Change& change);

/// Writes all of `view` as an etcd database.
void WriteEtcdSnapshot(const Base::View& view, const Identity& identity, const std::filesystem::path& path);

struct SnapshotSummary {
  std::uint32_t hash = 0;
  Revision revision = 0;
  std::uint64_t keys = 0;  // of all buckets, as etcdctl counts
};
/// What `etcdctl snapshot status` says. Throws std::runtime_error if the file is no snapshot.
SnapshotSummary ReadSnapshotSummary(const std::filesystem::path& path);
/// Fills a base from an etcd database, revisions and leases as they are there.
void RestoreEtcdSnapshot(const std::filesystem::path& path, Base& base);

std::uint32_t Crc32c(std::uint32_t crc, std::string_view bytes);

}  // namespace apimesh::store
