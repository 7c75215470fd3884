#include "lib/shared_memory/segment.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/shared_memory/view.h"

namespace apimesh::shared_memory {
namespace {

constexpr std::size_t kBytes = 64 << 20;

TEST(Segment, IsReadByAnotherProcess) {
  const auto segment = Segment::New(kBytes);
  ASSERT_TRUE(segment);
  const auto bytes = segment->Join({"one ", "text"});
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->View(), "one text");
  const auto place = segment->Find(bytes->View());
  ASSERT_TRUE(place);
  EXPECT_FALSE(segment->Find("a text on the heap"));
  const std::string name = segment->Name();
  const pid_t child = fork();
  if (child == 0) {
    const auto view = View::Open(name);
    _exit(view && view->At(place->offset, place->size) == "one text" ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Segment, BytesLiveAsLongAsTheirLastReference) {
  const auto segment = Segment::New(kBytes);
  const std::size_t before = segment->Used();
  auto bytes = segment->Join({std::string(5000, 'x')});
  SharedBytes copy = *bytes;
  bytes.reset();
  EXPECT_GT(segment->Used(), before);
  EXPECT_EQ(copy.View(), std::string(5000, 'x'));
  copy = SharedBytes();
  EXPECT_EQ(segment->Used(), before);
}

TEST(Segment, ALeaseHoldsUntilItEndsAndKeepsItsBytes) {
  const auto segment = Segment::New(kBytes);
  const auto view = View::Open(segment->Name());
  ASSERT_TRUE(view);
  EXPECT_EQ(view->Id(), segment->Id());
  const std::size_t before = segment->Used();
  auto lease = segment->NewLease();
  lease->Keep(segment->Join({std::string(100, 'x')})->Owner());
  const std::size_t slot = lease->Slot();
  const std::uint64_t number = lease->Number();
  EXPECT_TRUE(view->LeaseIsValid(slot, number));
  EXPECT_GT(segment->Used(), before);
  lease.reset();
  EXPECT_FALSE(view->LeaseIsValid(slot, number));
  EXPECT_EQ(segment->Used(), before);
  const auto next = segment->NewLease();
  EXPECT_EQ(next->Slot(), slot);
  EXPECT_FALSE(view->LeaseIsValid(slot, number)) << "a slot that is used again is another lease";
  EXPECT_FALSE(view->LeaseIsValid(1 << 20, number));
  EXPECT_FALSE(view->LeaseIsValid(5, 0)) << "a free slot is no lease";
}

TEST(Segment, TheNumberOfLeasesIsLimited) {
  const auto segment = Segment::New(kBytes);
  std::vector<std::unique_ptr<Segment::Lease>> leases;
  while (auto lease = segment->NewLease()) leases.push_back(std::move(lease));
  EXPECT_EQ(leases.size(), 4096u);
  leases.pop_back();
  EXPECT_TRUE(segment->NewLease());
}

TEST(Segment, AFullSegmentRefuses) {
  const auto segment = Segment::New(1 << 20);
  EXPECT_FALSE(segment->Join({std::string(2 << 20, 'x')}));
  std::vector<SharedBytes> all;
  while (auto bytes = segment->Join({std::string(10'000, 'x')})) all.push_back(std::move(*bytes));
  EXPECT_GT(all.size(), 60u);
  all.pop_back();
  EXPECT_TRUE(segment->Join({std::string(10'000, 'y')}));
}

TEST(Segment, ThreadsShareIt) {
  const auto segment = Segment::New(kBytes);
  const std::size_t before = segment->Used();
  std::vector<std::thread> threads;
  for (char letter : {'a', 'b', 'c', 'd'}) {
    threads.emplace_back([&segment, letter] {
      std::vector<SharedBytes> kept;
      for (std::size_t i = 1; i < 2000; ++i) {
        kept.push_back(*segment->Join({std::string(i * 7 % 9000, letter)}));
        if (kept.size() > 50) {
          const std::string_view oldest = kept.front().View();
          EXPECT_EQ(oldest.find_first_not_of(letter), std::string_view::npos);
          kept.erase(kept.begin());
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(segment->Used(), before);
}

TEST(View, OnlySegmentsAreOpened) {
  const auto segment = Segment::New(kBytes);
  const std::string name = segment->Name();
  const std::string place = name.substr(0, name.rfind('/') + 1);
  EXPECT_FALSE(View::Open(place + std::string(32, '0'))) << "another segment at the same place";
  EXPECT_FALSE(View::Open(std::to_string(getpid()) + "/0/" + segment->Id()));
  for (const char* bad : {"", "1", "1/2", "//", "a/b/c", "../../etc/1/x", "999999999/3/x", "1/../../x"}) {
    EXPECT_FALSE(View::Open(bad)) << bad;
  }
}

TEST(View, RangesOutsideAreEmpty) {
  const auto segment = Segment::New(kBytes);
  const auto view = View::Open(segment->Name());
  EXPECT_EQ(view->At(kBytes - 10, 10).size(), 10u);
  EXPECT_TRUE(view->At(kBytes - 10, 11).empty());
  EXPECT_TRUE(view->At(kBytes + 1, 0).empty());
  EXPECT_TRUE(view->At(~std::uint64_t{0}, 2).empty());
  EXPECT_TRUE(view->At(70'000, ~std::uint64_t{0}).empty());
  EXPECT_TRUE(view->At(0, 100).empty()) << "the header is not readable as text";
}

/// Returns the resident kilobytes of the mapping that contains `place`.
long ResidentAround(const char* place) {
  std::ifstream maps("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx", &begin, &end) == 2 && line.find('-') < line.find(' ')) {
      const auto address = reinterpret_cast<unsigned long>(place);
      inside = begin <= address && address < end;
    } else if (inside && line.starts_with("Rss:")) {
      return std::strtol(line.c_str() + 4, nullptr, 10);
    }
  }
  return -1;
}

TEST(View, ReleasesUnusedPages) {
  const auto segment = Segment::New(kBytes);
  const auto bytes = segment->Join({std::string(4 << 20, 'x')});
  const Position place = *segment->Find(bytes->View());
  const auto view = View::Open(segment->Name());
  const std::string_view text = view->At(place.offset, place.size);
  EXPECT_EQ(text, bytes->View());
  EXPECT_GE(ResidentAround(text.data()), 4 << 10);
  view->ReleaseUnusedPages();
  EXPECT_GE(ResidentAround(text.data()), 4 << 10) << "read since the last time";
  view->ReleaseUnusedPages();
  EXPECT_LT(ResidentAround(text.data()), 1 << 10);
  EXPECT_EQ(text, bytes->View()) << "they come back";
}

TEST(View, OutlivesItsOwner) {
  auto segment = Segment::New(kBytes);
  auto bytes = segment->Join({"text"});
  const Position place = *segment->Find(bytes->View());
  const auto view = View::Open(segment->Name());
  bytes.reset();
  segment.reset();
  EXPECT_EQ(view->At(place.offset, place.size).size(), 4u);
}

}  // namespace
}  // namespace apimesh::shared_memory
