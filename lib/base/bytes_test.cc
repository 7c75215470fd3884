#include "lib/base/bytes.h"

#include <gtest/gtest.h>

#include "lib/base/test_memory.h"

namespace apimesh {
namespace {

TEST(SharedBytes, OwnBytesAreAlwaysValid) {
  const SharedBytes bytes("text");
  EXPECT_EQ(bytes.View(), "text");
  EXPECT_FALSE(bytes.Revocable());
  EXPECT_TRUE(bytes.StillValid());
  EXPECT_TRUE(SharedBytes().empty());
  EXPECT_TRUE(SharedBytes().StillValid());
}

TEST(SharedBytes, BytesInRevocableMemoryAreValidUntilItIsRevoked) {
  const auto memory = std::make_shared<TestMemory>();
  const std::vector<SharedBytes> pieces{SharedBytes("own"), SharedBytes::InRevocableMemory(memory, "a"),
                                        SharedBytes::InRevocableMemory(memory, "b")};
  EXPECT_TRUE(AnyRevocable(pieces));
  EXPECT_TRUE(StillValid(pieces));
  EXPECT_EQ(memory->asked, 1) << "pieces that follow each other in the same memory need one check";
  const SharedBytes copy = pieces[1];
  memory->valid = false;
  EXPECT_FALSE(copy.StillValid());
  EXPECT_FALSE(StillValid(pieces));
  EXPECT_FALSE(AnyRevocable(std::span(pieces).first(1)));
  EXPECT_TRUE(StillValid(std::span(pieces).first(1)));
}

TEST(SharedBytes, EveryMemoryOfThePiecesIsChecked) {
  const auto first = std::make_shared<TestMemory>(), second = std::make_shared<TestMemory>();
  const std::vector<SharedBytes> pieces{SharedBytes::InRevocableMemory(first, "a"), SharedBytes("own"),
                                        SharedBytes::InRevocableMemory(second, "b")};
  EXPECT_TRUE(StillValid(pieces));
  second->valid = false;
  EXPECT_FALSE(StillValid(pieces));
}

TEST(SharedBytes, CopiesOfRevocableBytesAreOwned) {
  const auto memory = std::make_shared<TestMemory>();
  std::string shared = "shared";
  std::vector<SharedBytes> pieces{SharedBytes("own"), SharedBytes::InRevocableMemory(memory, shared)};
  ASSERT_TRUE(CopyRevocable(pieces));
  memory->valid = false;
  shared = "------";
  EXPECT_EQ(pieces[0].View(), "own");
  EXPECT_EQ(pieces[1].View(), "shared");
  EXPECT_TRUE(StillValid(pieces));

  pieces = {SharedBytes::InRevocableMemory(memory, shared)};
  EXPECT_FALSE(CopyRevocable(pieces));
}

}  // namespace
}  // namespace apimesh
