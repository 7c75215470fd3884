#include "lib/base/pieces.h"

#include <gtest/gtest.h>

namespace apimesh {
namespace {

TEST(Pieces, AreWhatWasPutIn) {
  Pieces pieces;
  std::string expected;
  const SharedBytes large(std::string(2000, 'l'));
  const SharedBytes small("small");
  for (int i = 0; i < 1000; ++i) {
    const std::string text(i % 40, static_cast<char>('a' + i % 26));
    pieces.Text(text);
    pieces.Shared(i % 3 == 0 ? large : small);
    expected += text + std::string((i % 3 == 0 ? large : small).View());
    EXPECT_EQ(pieces.size(), expected.size());
    if (i % 100 != 0) continue;
    std::string taken;
    for (const SharedBytes& piece : pieces.Take()) taken += piece.View();
    EXPECT_EQ(taken, expected);
    expected.clear();
  }
  EXPECT_EQ(pieces.Join(), expected);
  EXPECT_EQ(pieces.size(), 0u);
}

TEST(Pieces, LargeOnesAreNotCopied) {
  Pieces pieces;
  const SharedBytes large(std::string(2000, 'l'));
  pieces.Text("[");
  pieces.Shared(large, large.View().substr(10));
  const std::vector<SharedBytes> taken = pieces.Take();
  ASSERT_EQ(taken.size(), 2u);
  EXPECT_EQ(taken[1].View().data(), large.View().data() + 10);
}

}  // namespace
}  // namespace apimesh
