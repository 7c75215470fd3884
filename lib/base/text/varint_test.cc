#include "lib/base/text/varint.h"

#include <limits>

#include <gtest/gtest.h>

namespace apimesh {
namespace {

struct Case {
  std::uint64_t value;
  std::string_view bytes;
};
constexpr Case kCases[] = {
    {0, {"\0", 1}},    {1, "\x01"},
    {127, "\x7f"},     {128, "\x80\x01"},
    {300, "\xac\x02"}, {std::numeric_limits<std::uint64_t>::max(), "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"}};

TEST(Varint, IsWrittenAndRead) {
  for (const Case& one : kCases) {
    std::string out = "x";
    AppendVarint(out, one.value);
    EXPECT_EQ(out.substr(1), one.bytes);
    EXPECT_EQ(VarintSize(one.value), one.bytes.size());
    const std::string followed = out + "rest";
    std::string_view in = std::string_view(followed).substr(1);
    std::uint64_t value = 0;
    ASSERT_TRUE(ReadVarint(in, value));
    EXPECT_EQ(value, one.value);
    EXPECT_EQ(in, "rest");
  }
}

TEST(Varint, MayBePadded) {
  std::string_view in("\x81\x80\x80\x00z", 5);
  std::uint64_t value = 0;
  ASSERT_TRUE(ReadVarint(in, value));
  EXPECT_EQ(value, 1u);
  EXPECT_EQ(in, "z");
}

TEST(Varint, IncompleteAndOverlongAreMalformed) {
  for (std::string_view in : {std::string_view(""), std::string_view("\x80"),
                              std::string_view("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01")}) {
    std::uint64_t value = 0;
    EXPECT_FALSE(ReadVarint(in, value));
  }
}

}  // namespace
}  // namespace apimesh
