#include "lib/base/fifo.h"

#include <memory>

#include <gtest/gtest.h>

namespace apimesh {
namespace {

TEST(Fifo, GivesBackInOrderHoweverManyWait) {
  Fifo<int> fifo;
  int in = 0, out = 0;
  for (int round = 1; round <= 100; ++round) {
    for (int i = 0; i < round; ++i) fifo.push_back(in++);
    for (int i = 0; i < round - round % 3; ++i) {
      ASSERT_EQ(fifo.front(), out++);
      fifo.pop_front();
    }
    ASSERT_EQ(fifo.size(), static_cast<std::size_t>(in - out));
  }
  for (; !fifo.empty(); fifo.pop_front()) ASSERT_EQ(fifo.front(), out++);
  EXPECT_EQ(in, out);
}

TEST(Fifo, LetsGoOfWhatIsTaken) {
  Fifo<std::shared_ptr<int>> fifo;
  const auto item = std::make_shared<int>(1);
  fifo.push_back(item);
  fifo.push_back(item);
  fifo.pop_front();
  EXPECT_EQ(item.use_count(), 2);
  fifo.clear();
  EXPECT_EQ(item.use_count(), 1);
  EXPECT_TRUE(fifo.empty());
}

}  // namespace
}  // namespace apimesh
