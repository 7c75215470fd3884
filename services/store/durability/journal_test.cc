#include "services/store/durability/journal.h"

#include <fstream>
#include <random>

#include <gtest/gtest.h>

#include "lib/testing/system_clock.h"

namespace apimesh::store {
namespace {

/// Records what was recovered as "key=value@revision" lines.
class Recorder final : public StateVisitor {
 public:
  void OnChange(const Change& change) override {
    keys[std::string(change.key)] = change.id.main;
    newest = std::max(newest, change.id.main);
  }
  void OnLeaseGranted(LeaseId id, std::int64_t) override { leases.insert(id); }
  void OnLeaseRevoked(LeaseId id) override { leases.erase(id); }
  void OnCompacted(Revision revision) override { compacted = revision; }
  void OnAlarm(int, bool) override {}

  std::map<std::string, Revision> keys;
  std::set<LeaseId> leases;
  Revision newest = 0, compacted = 0;
};

class JournalTest : public ::testing::Test {
 protected:
  JournalTest() : folder_(std::filesystem::path(::testing::TempDir()) / ("journal" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(folder_);
  }
  ~JournalTest() override { std::filesystem::remove_all(folder_); }

  /// Writes revisions [from, to], one entry per revision and ten entries per batch, and waits until all are durable.
  void Write(Revision from, Revision to, std::size_t segment_bytes) {
    EventLoop loop(apimesh::testing::SystemClock());
    Journal journal(loop, {.folder = folder_, .segment_bytes = segment_bytes});
    Recorder ignored;
    journal.Recover(ignored, ignored);
    journal.Start({.durable =
                       [&](std::uint64_t sequence) {
                         if (sequence >= journal.LastSequence()) loop.Stop();
                       },
                   .base_grew = [](Revision) {},
                   .synced = [](std::chrono::nanoseconds) {}});
    for (Revision r = from; r <= to; ++r) {
      EntryWriter entry;
      entry.OnChange(
          {.id = {r, 0}, .key = "k" + std::to_string(r), .value = std::string(100, 'v'), .create = r, .version = 1});
      journal.Append(entry);
      if (r % 10 == 0) journal.EndOfTurn();
    }
    journal.EndOfTurn();
    if (from > to) loop.Stop();
    loop.Run();
    journal.Stop();
  }

  Recorder Recover() {
    EventLoop loop(apimesh::testing::SystemClock());
    Journal journal(loop, {.folder = folder_, .sync = false});
    Recorder recorder;
    journal.Recover(recorder, recorder);
    return recorder;
  }

  std::filesystem::path folder_;
};

TEST_F(JournalTest, RecoversWhatIsInTheLogAndWhatIsInTheBase) {
  Write(2, 500, 4096);  // many segments, some applied to the base and some not
  Write(501, 600, 4096);
  const Recorder recovered = Recover();
  EXPECT_EQ(recovered.newest, 600);
  EXPECT_EQ(recovered.keys.size(), 599u);
}

// Power loss: any part of the data after the last sync may be missing or garbage. Everything that was synced must be
// there.
TEST_F(JournalTest, SurvivesAnyLossAfterTheLastSync) {
  Write(2, 100, 1 << 20);
  const LogSegment segment = Log::Segments(folder_).back();
  const SegmentContents synced = ReadSegment(segment);
  std::size_t end = 0;
  EntryReader reader(synced.frames, synced.epoch);
  for (std::uint64_t sequence = segment.first; reader.Next(sequence); ++sequence) end += reader.FrameBytes();

  std::string unsynced;
  for (Revision r = 101; r <= 130; ++r) {
    EntryWriter entry;
    entry.OnChange(
        {.id = {r, 0}, .key = "k" + std::to_string(r), .value = std::string(100, 'w'), .create = r, .version = 1});
    entry.AppendFrame(static_cast<std::uint64_t>(r - 1), synced.epoch, unsynced);
  }
  std::mt19937 random(7);
  for (int round = 0; round < 30; ++round) {
    std::string tail = unsynced.substr(0, random() % (unsynced.size() + 1));
    for (int hole = 0; hole < round % 3 && !tail.empty(); ++hole) {  // sectors that were never written
      const std::size_t at = random() % tail.size() / 512 * 512;
      std::fill_n(tail.begin() + static_cast<long>(at), std::min<std::size_t>(512, tail.size() - at), '\0');
    }
    std::fstream file(segment.path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<long>(SegmentContents::kHeaderBytes + end));
    file << tail << std::string(unsynced.size() - tail.size(), '\0');
    file.close();
    const Recorder recovered = Recover();
    EXPECT_GE(recovered.newest, 100);
    // The result is a prefix: no entry is present without those before it.
    EXPECT_EQ(recovered.keys.size(), static_cast<std::size_t>(recovered.newest - 1));
  }
}

// After a power loss, later frames of a batch may be on disk while the first is missing. If the file is reused, these
// frames must not become entries, even at a position where a frame is expected.
TEST_F(JournalTest, OldFramesInAReusedFileAreNotEntries) {
  Write(2, 10, 1 << 20);
  const LogSegment segment = Log::Segments(folder_).back();
  const SegmentContents before = ReadSegment(segment);
  std::string leftovers;
  for (std::uint64_t sequence = 10; sequence < 20; ++sequence) {
    EntryWriter entry;
    entry.OnChange({.id = {100, 0}, .key = "from the dead", .value = "v", .create = 100, .version = 1});
    entry.AppendFrame(sequence, before.epoch, leftovers);
  }
  {
    std::ofstream spare(folder_ / "spare-00000000000000ff", std::ios::binary);
    spare << std::string(SegmentContents::kHeaderBytes, '\0') << leftovers;
  }
  Write(11, 10, 1 << 20);  // begins a segment, which reuses the spare file, and writes nothing
  EXPECT_FALSE(std::filesystem::exists(folder_ / "spare-00000000000000ff"));
  const Recorder recovered = Recover();
  EXPECT_EQ(recovered.newest, 10);
  EXPECT_FALSE(recovered.keys.contains("from the dead"));
}

TEST_F(JournalTest, OneSyncServesAllWaitingEntries) {
  EventLoop loop(apimesh::testing::SystemClock());
  Journal journal(loop, {.folder = folder_});
  Recorder ignored;
  journal.Recover(ignored, ignored);
  int syncs = 0;
  journal.Start({.durable =
                     [&](std::uint64_t sequence) {
                       if (sequence == 500) loop.Stop();
                     },
                 .base_grew = [](Revision) {},
                 .synced = [&](std::chrono::nanoseconds) { ++syncs; }});
  for (int i = 0; i < 500; ++i) {
    EntryWriter entry;
    entry.OnLeaseGranted(i + 1, 10);
    journal.Append(entry);
    journal.EndOfTurn();
  }
  loop.Run();
  journal.Stop();
  EXPECT_GE(syncs, 1);
  EXPECT_LT(syncs, 250);
  EXPECT_EQ(Recover().leases.size(), 500u);
}

TEST_F(JournalTest, ASingleWriterNeedsNoOtherThread) {
  EventLoop loop(apimesh::testing::SystemClock());
  Journal journal(loop, {.folder = folder_});
  Recorder ignored;
  journal.Recover(ignored, ignored);
  int left = 200, at_once = 0;
  bool ending = false;
  const auto write_one = [&] {
    EntryWriter entry;
    entry.OnLeaseGranted(left, 10);
    journal.Append(entry);
    ending = true;
    journal.EndOfTurn();
    ending = false;
  };
  journal.Start({.durable =
                     [&](std::uint64_t) {
                       if (ending) ++at_once;
                       --left > 0 ? loop.Post(write_one) : loop.Stop();
                     },
                 .base_grew = [](Revision) {},
                 .synced = [](std::chrono::nanoseconds) {}});
  write_one();
  loop.Run();
  journal.Stop();
  EXPECT_GE(at_once, 100);  // all except the first few and those that a busy machine delays
  EXPECT_EQ(Recover().leases.size(), 200u);
}

TEST_F(JournalTest, StopsWhileADefragmentationWaitsForTheLoop) {
  Write(2, 50, 4096);
  {
    EventLoop loop(apimesh::testing::SystemClock());
    Journal journal(loop, {.folder = folder_});
    Recorder ignored;
    journal.Recover(ignored, ignored);
    journal.Start(
        {.durable = [](std::uint64_t) {}, .base_grew = [](Revision) {}, .synced = [](std::chrono::nanoseconds) {}});
    journal.Defragment([] {});
    journal.EndOfTurn();
    journal.Stop();  // the loop does not run again
  }
  EXPECT_EQ(Recover().keys.size(), 49);
}

TEST_F(JournalTest, FilesOfOldSegmentsAreReused) {
  Write(2, 2000, 16 * 1024);
  std::size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder_)) {
    files += file.path().filename().string().starts_with("spare-") ? 1 : 0;
  }
  EXPECT_GE(files, 1u);
  EXPECT_LE(files, 2u);
  EXPECT_EQ(Recover().newest, 2000);
}

TEST_F(JournalTest, RejectsAnIncompleteLog) {
  Write(2, 50, 1 << 20);
  const LogSegment segment = Log::Segments(folder_).back();
  std::filesystem::rename(segment.path, folder_ / "log-00000000000000ff");
  EXPECT_THROW(Recover(), std::runtime_error);
}

}  // namespace
}  // namespace apimesh::store
