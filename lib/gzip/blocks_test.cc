#include "lib/gzip/blocks.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "lib/gzip/test_gunzip.h"

namespace apimesh::gzip {
namespace {

std::string Text(std::size_t size, bool noise) {
  static std::minstd_rand random(11);
  std::string out;
  while (out.size() < size)
    out += noise ? std::string(1, static_cast<char>(random() >> 8))
                 : "\"key-" + std::to_string(random() % 50) + "\":true,";
  out.resize(size);
  return out;
}

/// A body of these parts, alternately compressed and stored.
std::string Packed(const std::vector<std::string>& parts) {
  Body body;
  std::string out(Body::Head());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    out += i % 3 == 1 ? Stored(parts[i]) : Deflate(parts[i]);
    body.Add(SumOf(parts[i]));
  }
  return out + body.Tail();
}

std::string Joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out += part;
  return out;
}

TEST(GzipBlocks, AnyConcatenationIsTheirText) {
  const std::vector<std::string> choice = {"",
                                           ",",
                                           Text(100, false),
                                           Text(4000, false),
                                           Text(4000, true),
                                           Text(70'000, false),
                                           Text(200'000, true),
                                           Text(1'500'000, false)};
  EXPECT_EQ(Gunzip(Packed({})), "");
  for (const std::string& one : choice) EXPECT_EQ(Gunzip(Packed({one})), one) << one.size();
  std::minstd_rand random(3);
  for (int round = 0; round < 100; ++round) {
    std::vector<std::string> parts;
    for (std::size_t i = random() % 30; i > 0; --i) parts.push_back(choice[random() % (choice.size() - 1)]);
    EXPECT_EQ(Gunzip(Packed(parts)), Joined(parts));
  }
}

/// A part may be followed by any other part, because it does not refer to the text before it.
TEST(GzipBlocks, AreIndependentOfEachOther) {
  const std::string same = Text(5000, false);
  const std::string block = Deflate(same);
  EXPECT_EQ(block, Deflate(same)) << "the compressor remembers something";
  Body body;
  std::string out(Body::Head());
  for (int i = 0; i < 3; ++i) {
    out += block;
    body.Add(SumOf(same));
  }
  EXPECT_EQ(Gunzip(out + body.Tail()), same + same + same);
}

TEST(GzipBlocks, AreSmallerThanTheirTextOrHardlyLarger) {
  EXPECT_LT(Deflate(Text(30'000, false)).size(), 15'000u);
  for (const std::size_t size : {1, 10, 100, 65535, 65536, 300'000}) {
    EXPECT_LE(Deflate(Text(size, true)).size(), size + 5 * (size / 65535 + 1)) << size;
  }
}

/// A few bits between blocks have no meaning. Any other flipped bit must make the body invalid and never change the
/// text.
TEST(GzipBlocks, AFlippedBitIsDetected) {
  const std::vector<std::string> parts = {Text(500, false), Text(300, false), Text(2000, false)};
  const std::string good = Packed(parts);
  std::size_t unnoticed = 0;
  for (std::size_t place = Body::Head().size(); place < good.size(); ++place) {  // the head has no checksum
    std::string bad = good;
    bad[place] = static_cast<char>(bad[place] ^ 1 << place % 8);
    const std::optional<std::string> text = Gunzip(bad);
    ASSERT_TRUE(!text || *text == Joined(parts)) << place;
    unnoticed += text ? 1 : 0;
  }
  EXPECT_LT(unnoticed, 10u);
}

TEST(GzipBlocks, SumsOfMoreThanFourGigabytes) {
  const std::string part = Text(1 << 20, false);
  const Sum sum = SumOf(part);
  Body body;
  std::uint32_t crc = 0;
  for (int i = 0; i < 4100; ++i) {
    body.Add(sum);
    crc = static_cast<std::uint32_t>(crc32_combine(crc, sum.crc, 1 << 20));
  }
  const std::string tail = body.Tail();
  const auto number = [&tail](std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value |= std::uint32_t{static_cast<unsigned char>(tail[at + i])} << 8 * i;
    return value;
  };
  EXPECT_EQ(number(2), crc);
  EXPECT_EQ(number(6), 4u << 20) << "the size modulo 2^32";
}

}  // namespace
}  // namespace apimesh::gzip
