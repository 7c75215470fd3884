#include "services/store/bolt/etcd_snapshot.h"

#include <array>
#include <cstring>
#include <map>
#include <stdexcept>

#include <endian.h>

#include "proto/etcd/v3/kv.pb.h"
#include "services/store/bolt/bolt_reader.h"
#include "services/store/bolt/bolt_writer.h"
#include "services/store/maintenance/version.h"
#include "services/store/mvcc/wire.h"

namespace apimesh::store {
namespace {

std::string BigEndian(std::uint64_t value) {
  value = htobe64(value);
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::uint64_t FromBigEndian(std::string_view bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  return be64toh(value);
}

std::string RevisionKey(ChangeId id) {
  return BigEndian(static_cast<std::uint64_t>(id.main)) + "_" + BigEndian(id.sub);
}

constexpr auto kCrcTable = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? crc >> 1 ^ 0x82F63B78u : crc >> 1;
    table[i] = crc;
  }
  return table;
}();

constexpr std::size_t kChangesACommit = 20000;

}  // namespace

std::uint32_t Crc32c(std::uint32_t crc, std::string_view bytes) {
  crc = ~crc;
  for (const unsigned char byte : bytes) crc = kCrcTable[(crc ^ byte) & 0xff] ^ crc >> 8;
  return ~crc;
}

std::string EtcdRevisionKey(const Change& change) {
  std::string key = RevisionKey(change.id);
  if (change.deleted) key.push_back('t');
  return key;
}

std::string EtcdRecord(const Change& change) {
  std::string record;
  if (change.deleted) {
    wire::AppendBytes(record, 1, change.key);
  } else {
    record.reserve(wire::KeyValueSize(change));
    wire::AppendKeyValueBody(record, change);
  }
  return record;
}

void WriteEtcdSnapshot(const Base::View& view, const Identity& identity, const std::filesystem::path& path) {
  bolt::BoltWriter writer(path);
  writer.StartBucket("key");
  view.Scan({}, true, [&](const Change& change) {
    writer.Add(EtcdRevisionKey(change), EtcdRecord(change));
    return true;
  });
  writer.StartBucket("lease");
  std::map<std::string, std::string> leases;  // by big-endian id, which is the order of the bucket
  view.Leases([&](LeaseId id, std::int64_t ttl) {
    std::string lease;
    wire::AppendInteger(lease, 1, id);
    wire::AppendInteger(lease, 2, ttl);
    leases[BigEndian(static_cast<std::uint64_t>(id))] = lease;
  });
  for (const auto& [id, lease] : leases) writer.Add(id, lease);
  writer.StartBucket("meta");
  const std::string compacted = RevisionKey({view.Number(Base::kCompacted), 0});
  const bool was_compacted = view.Number(Base::kCompacted) > 0;
  writer.Add("confState", R"({"voters":[)" + std::to_string(identity.member_id) + R"(],"auto_leave":false})");
  writer.Add("consistent_index", BigEndian(static_cast<std::uint64_t>(view.Number(Base::kSequence))));
  if (was_compacted) writer.Add("finishedCompactRev", compacted);
  if (was_compacted) writer.Add("scheduledCompactRev", compacted);
  writer.Add("storageVersion", kStorageVersion);
  writer.Add("term", BigEndian(identity.term));
  for (const char* empty : {"alarm", "auth", "authRoles", "authUsers", "members", "members_removed"}) {
    writer.StartBucket(empty);
  }
  writer.StartBucket("cluster");
  writer.Add("clusterVersion", kClusterVersion);
  writer.Finish();
}

SnapshotSummary ReadSnapshotSummary(const std::filesystem::path& path) {
  const bolt::BoltReader reader(path);
  SnapshotSummary summary;
  reader.ForEachBucket([&](std::string_view bucket) {
    summary.hash = Crc32c(summary.hash, bucket);
    reader.ForEach(bucket, [&](std::string_view key, std::string_view value) {
      summary.hash = Crc32c(Crc32c(summary.hash, key), value);
      ++summary.keys;
      if (bucket == "key" && key.size() >= 8) summary.revision = static_cast<Revision>(FromBigEndian(key));
    });
  });
  return summary;
}

void RestoreEtcdSnapshot(const std::filesystem::path& path, Base& base) {
  const bolt::BoltReader reader(path);
  std::unique_ptr<Base::Writer> writer = base.OpenWriter();
  reader.ForEach("lease", [&](std::string_view, std::string_view value) {
    // leasepb.Lease: varint fields ID (1), TTL (2), RemainingTTL (3).
    std::int64_t fields[4] = {};
    for (std::size_t at = 0; at < value.size();) {
      const int field = static_cast<unsigned char>(value[at++]) >> 3;
      std::uint64_t number = 0;
      for (int shift = 0; at < value.size(); shift += 7) {
        const auto byte = static_cast<unsigned char>(value[at++]);
        number |= std::uint64_t{byte & 0x7fu} << shift;
        if (byte < 0x80 || shift >= 63) break;
      }
      if (field < 4) fields[field] = static_cast<std::int64_t>(number);
    }
    if (fields[1] != 0) writer->OnLeaseGranted(fields[1], fields[2]);
  });
  std::size_t pending = 0;
  mvccpb::KeyValue kv;
  reader.ForEach("key", [&](std::string_view key, std::string_view value) {
    if (key.size() < 17 || !kv.ParseFromArray(value.data(), static_cast<int>(value.size()))) {
      throw std::runtime_error("not a usable etcd snapshot: a key has no revision or no value");
    }
    const bool deleted = key.size() == 18 && key[17] == 't';
    writer->OnChange(
        {.id = {static_cast<Revision>(FromBigEndian(key)), static_cast<std::uint32_t>(FromBigEndian(key.substr(9)))},
         .deleted = deleted,
         .key = kv.key(),
         .value = kv.value(),
         .create = deleted ? 0 : kv.create_revision(),
         .version = deleted ? 0 : kv.version(),
         .lease = kv.lease()});
    if (++pending == kChangesACommit) {
      writer->Commit();
      writer = base.OpenWriter();
      pending = 0;
    }
  });
  Revision compacted = 0;
  reader.ForEach("meta", [&](std::string_view key, std::string_view value) {
    if ((key == "finishedCompactRev" || key == "scheduledCompactRev") && value.size() >= 8) {
      compacted = std::max(compacted, static_cast<Revision>(FromBigEndian(value)));
    }
  });
  if (compacted > 0) writer->OnCompacted(compacted);
  writer->Commit();
}

}  // namespace apimesh::store
