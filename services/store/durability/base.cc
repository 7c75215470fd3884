#include "services/store/durability/base.h"

#include <cstring>
#include <stdexcept>

#include <endian.h>
#include <lmdb.h>

namespace apimesh::store {
namespace {

void Check(int result, const char* what) {
  if (result != MDB_SUCCESS) throw std::runtime_error(std::string(what) + ": " + mdb_strerror(result));
}

struct Key12 {
  unsigned char bytes[12];
  explicit Key12(ChangeId id) {
    const std::uint64_t main = htobe64(static_cast<std::uint64_t>(id.main));
    const std::uint32_t sub = htobe32(id.sub);
    std::memcpy(bytes, &main, 8);
    std::memcpy(bytes + 8, &sub, 4);
  }
  MDB_val Val() { return {sizeof bytes, bytes}; }
};

ChangeId DecodeKey(const MDB_val& key) {
  std::uint64_t main = 0;
  std::uint32_t sub = 0;
  std::memcpy(&main, key.mv_data, 8);
  std::memcpy(&sub, static_cast<char*>(key.mv_data) + 8, 4);
  return {static_cast<Revision>(be64toh(main)), be32toh(sub)};
}

// The record of a change without its value. The key follows it.
struct Head {
  std::int64_t create, version, lease;
  std::int64_t deleted;
};

Change DecodeChange(const MDB_val& key, const MDB_val& data) {
  Head head;
  std::memcpy(&head, data.mv_data, sizeof head);
  return {.id = DecodeKey(key),
          .deleted = head.deleted != 0,
          .key = {static_cast<char*>(data.mv_data) + sizeof head, data.mv_size - sizeof head},
          .create = head.create,
          .version = head.version,
          .lease = head.lease};
}

std::string_view Get(MDB_txn* txn, MDB_dbi table, MDB_val key) {
  MDB_val data{};
  const int result = mdb_get(txn, table, &key, &data);
  if (result == MDB_NOTFOUND) return {};
  Check(result, "mdb_get");
  return {static_cast<char*>(data.mv_data), data.mv_size};
}

// Revisions increase, so nearly every change is appended to its table, which keeps pages full.
void Put(MDB_txn* txn, MDB_dbi table, MDB_val key, MDB_val& slot) {
  const std::size_t size = slot.mv_size;
  int result = mdb_put(txn, table, &key, &slot, MDB_APPEND | MDB_RESERVE);
  if (result == MDB_KEYEXIST) {
    slot.mv_size = size;
    result = mdb_put(txn, table, &key, &slot, MDB_RESERVE);
  }
  Check(result, "mdb_put");
}

void Delete(MDB_txn* txn, MDB_dbi table, MDB_val key) {
  const int result = mdb_del(txn, table, &key, nullptr);
  if (result != MDB_NOTFOUND) Check(result, "mdb_del");
}

}  // namespace

Base::View::View(MDB_env* env, const Tables& tables) : tables_(tables) {
  Check(mdb_txn_begin(env, nullptr, MDB_RDONLY, &txn_), "mdb_txn_begin");
}

Base::View::~View() { mdb_txn_abort(txn_); }

std::string_view Base::View::Value(ChangeId id) const { return Get(txn_, tables_.values, Key12(id).Val()); }

void Base::View::Scan(ChangeId from, bool with_values, const std::function<bool(const Change&)>& visit) const {
  MDB_cursor* cursor = nullptr;
  Check(mdb_cursor_open(txn_, tables_.changes, &cursor), "mdb_cursor_open");
  const std::unique_ptr<MDB_cursor, decltype(&mdb_cursor_close)> owner(cursor, &mdb_cursor_close);
  Key12 start(from);
  MDB_val key = start.Val(), data{};
  for (int result = mdb_cursor_get(cursor, &key, &data, MDB_SET_RANGE); result == MDB_SUCCESS;
       result = mdb_cursor_get(cursor, &key, &data, MDB_NEXT)) {
    Change change = DecodeChange(key, data);
    if (with_values && !change.deleted) change.value = Value(change.id);
    if (!visit(change)) return;
  }
}

void Base::View::Leases(const std::function<void(LeaseId, std::int64_t)>& visit) const {
  MDB_cursor* cursor = nullptr;
  Check(mdb_cursor_open(txn_, tables_.leases, &cursor), "mdb_cursor_open");
  const std::unique_ptr<MDB_cursor, decltype(&mdb_cursor_close)> owner(cursor, &mdb_cursor_close);
  MDB_val key{}, data{};
  while (mdb_cursor_get(cursor, &key, &data, MDB_NEXT) == MDB_SUCCESS) {
    std::int64_t id = 0, ttl = 0;
    std::memcpy(&id, key.mv_data, 8);
    std::memcpy(&ttl, data.mv_data, 8);
    visit(id, ttl);
  }
}

std::int64_t Base::View::Number(std::string_view name) const {
  const std::string_view found = Get(txn_, tables_.numbers, {name.size(), const_cast<char*>(name.data())});
  std::int64_t value = 0;
  if (found.size() == 8) std::memcpy(&value, found.data(), 8);
  return value;
}

std::uint64_t Base::View::Changes() const {
  MDB_stat stat{};
  Check(mdb_stat(txn_, tables_.changes, &stat), "mdb_stat");
  return stat.ms_entries;
}

Base::Writer::Writer(MDB_env* env, const Tables& tables) : tables_(tables) {
  Check(mdb_txn_begin(env, nullptr, 0, &txn_), "mdb_txn_begin");
}

Base::Writer::~Writer() {
  if (txn_ != nullptr) mdb_txn_abort(txn_);
}

void Base::Writer::OnChange(const Change& change) {
  Key12 key(change.id);
  const Head head{change.create, change.version, change.lease, change.deleted ? 1 : 0};
  MDB_val slot{sizeof head + change.key.size(), nullptr};
  Put(txn_, tables_.changes, key.Val(), slot);
  std::memcpy(slot.mv_data, &head, sizeof head);
  std::memcpy(static_cast<char*>(slot.mv_data) + sizeof head, change.key.data(), change.key.size());
  if (!change.deleted) {
    MDB_val value{change.value.size(), nullptr};
    Put(txn_, tables_.values, key.Val(), value);
    std::memcpy(value.mv_data, change.value.data(), change.value.size());
  }
  revision_ = std::max(revision_, change.id.main);
}

void Base::Writer::OnLeaseGranted(LeaseId id, std::int64_t ttl) {
  MDB_val key{sizeof id, &id}, data{sizeof ttl, &ttl};
  Check(mdb_put(txn_, tables_.leases, &key, &data, 0), "mdb_put");
}

void Base::Writer::OnLeaseRevoked(LeaseId id) { Delete(txn_, tables_.leases, {sizeof id, &id}); }

void Base::Writer::OnCompacted(Revision revision) { SetNumber(Base::kCompacted, revision); }

void Base::Writer::OnAlarm(int, bool active) { SetNumber(Base::kNoSpace, active ? 1 : 0); }

void Base::Writer::Erase(ChangeId id) {
  Delete(txn_, tables_.changes, Key12(id).Val());
  Delete(txn_, tables_.values, Key12(id).Val());
}

void Base::Writer::SetNumber(std::string_view name, std::int64_t value) {
  MDB_val key{name.size(), const_cast<char*>(name.data())}, data{sizeof value, &value};
  Check(mdb_put(txn_, tables_.numbers, &key, &data, 0), "mdb_put");
}

void Base::Writer::Commit() {
  if (revision_ > 0) SetNumber(Base::kRevision, revision_);
  MDB_txn* txn = std::exchange(txn_, nullptr);
  Check(mdb_txn_commit(txn), "mdb_txn_commit");
}

Base::Base(const std::filesystem::path& folder, Options options) {
  Check(mdb_env_create(&env_), "mdb_env_create");
  Check(mdb_env_set_maxdbs(env_, 8), "mdb_env_set_maxdbs");
  Check(mdb_env_set_mapsize(env_, options.map_bytes), "mdb_env_set_mapsize");
  unsigned flags = MDB_NOTLS | MDB_NORDAHEAD;
  if (!options.sync) flags |= MDB_NOSYNC;
  Check(mdb_env_open(env_, folder.c_str(), flags, 0600), "mdb_env_open");
  MDB_txn* txn = nullptr;
  Check(mdb_txn_begin(env_, nullptr, 0, &txn), "mdb_txn_begin");
  Check(mdb_dbi_open(txn, "changes", MDB_CREATE, &tables_.changes), "mdb_dbi_open");
  Check(mdb_dbi_open(txn, "values", MDB_CREATE, &tables_.values), "mdb_dbi_open");
  Check(mdb_dbi_open(txn, "leases", MDB_CREATE, &tables_.leases), "mdb_dbi_open");
  Check(mdb_dbi_open(txn, "numbers", MDB_CREATE, &tables_.numbers), "mdb_dbi_open");
  Check(mdb_txn_commit(txn), "mdb_txn_commit");
}

Base::~Base() { mdb_env_close(env_); }

std::unique_ptr<Base::View> Base::OpenView() const { return std::unique_ptr<View>(new View(env_, tables_)); }

std::unique_ptr<Base::Writer> Base::OpenWriter() { return std::unique_ptr<Writer>(new Writer(env_, tables_)); }

std::uint64_t Base::FileBytes() const {
  MDB_envinfo info{};
  mdb_env_info(env_, &info);
  return (info.me_last_pgno + 1) * PageBytes();
}

std::uint64_t Base::UsedBytes() const {
  MDB_txn* txn = nullptr;
  Check(mdb_txn_begin(env_, nullptr, MDB_RDONLY, &txn), "mdb_txn_begin");
  const std::unique_ptr<MDB_txn, decltype(&mdb_txn_abort)> owner(txn, &mdb_txn_abort);
  std::uint64_t pages = 0;
  for (const MDB_dbi table :
       {MDB_dbi{0}, MDB_dbi{1}, tables_.changes, tables_.values, tables_.leases, tables_.numbers}) {
    MDB_stat stat{};
    Check(mdb_stat(txn, table, &stat), "mdb_stat");
    pages += stat.ms_branch_pages + stat.ms_leaf_pages + stat.ms_overflow_pages;
  }
  return pages * PageBytes();
}

void Base::CopyCompact(const std::filesystem::path& folder) const {
  Check(mdb_env_copy2(env_, folder.c_str(), MDB_CP_COMPACT), "mdb_env_copy2");
  std::filesystem::permissions(folder / "data.mdb",  // LMDB derives the mode of a copy from the umask
                               std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

std::uint64_t Base::PageBytes() const {
  MDB_stat stat{};
  mdb_env_stat(env_, &stat);
  return stat.ms_psize;
}

std::unique_ptr<Base> Base::Open(const std::filesystem::path& folder, Options options) {
  return std::unique_ptr<Base>(new Base(folder, options));
}

}  // namespace apimesh::store
