#include "services/store/bolt/etcd_snapshot.h"

#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

namespace apimesh::store {
namespace {

class EtcdSnapshotTest : public ::testing::Test {
 protected:
  EtcdSnapshotTest() : folder_(std::filesystem::path(::testing::TempDir()) / ("bolt" + std::to_string(::getpid()))) {
    for (const char* name : {"a", "b"}) std::filesystem::create_directories(folder_ / name);
  }
  ~EtcdSnapshotTest() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

TEST_F(EtcdSnapshotTest, ComesBackAsItWas) {
  const auto first = Base::Open(folder_ / "a", {.sync = false});
  const auto writer = first->OpenWriter();
  for (Revision r = 2; r < 3000; ++r) {
    const std::string key = "key" + std::to_string(r % 700);
    // Some values need overflow pages.
    const std::string value(r % 50 == 0 ? 20000 : 40, static_cast<char>('a' + r % 26));
    writer->OnChange({.id = {r, 0},
                      .deleted = r % 9 == 0,
                      .key = key,
                      .value = r % 9 == 0 ? "" : value,
                      .create = r % 9 == 0 ? 0 : r,
                      .version = r % 9 == 0 ? 0 : 1});
  }
  writer->OnLeaseGranted(77, 30);
  writer->OnCompacted(20);
  writer->Commit();
  WriteEtcdSnapshot(*first->OpenView(), {}, folder_ / "db");
  EXPECT_EQ(ReadSnapshotSummary(folder_ / "db").revision, 2999);

  const auto second = Base::Open(folder_ / "b", {.sync = false});
  RestoreEtcdSnapshot(folder_ / "db", *second);
  const auto before = first->OpenView(), after = second->OpenView();
  std::vector<std::string> expected, found;
  const auto collect = [](const Base::View& view, std::vector<std::string>& out) {
    view.Scan({}, true, [&](const Change& change) {
      out.push_back(EtcdRevisionKey(change) + EtcdRecord(change));
      return true;
    });
  };
  collect(*before, expected);
  collect(*after, found);
  EXPECT_EQ(found, expected);
  EXPECT_EQ(after->Number(Base::kCompacted), 20);
  EXPECT_EQ(after->Number(Base::kRevision), 2999);
  std::int64_t ttl = 0;
  after->Leases([&](LeaseId id, std::int64_t seconds) { ttl = id == 77 ? seconds : -1; });
  EXPECT_EQ(ttl, 30);
}

TEST_F(EtcdSnapshotTest, RefusesGarbage) {
  std::ofstream(folder_ / "garbage") << std::string(10000, 'x');
  EXPECT_THROW(ReadSnapshotSummary(folder_ / "garbage"), std::runtime_error);
}

}  // namespace
}  // namespace apimesh::store
