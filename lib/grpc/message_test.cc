#include "lib/grpc/message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace apimesh::grpc {
namespace {

using Outcome = MessageReader::Outcome;
using ::testing::ElementsAre;
using namespace std::string_literals;

std::string Framed(std::string_view message) {
  return std::string(MessagePrefix(message.size()).View()).append(message);
}

/// Feeds `bytes` in pieces of `piece` bytes.
std::vector<std::string> ReadAll(std::string_view bytes, std::size_t piece, bool take) {
  MessageReader reader(1'000'000);
  std::vector<std::string> messages;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    std::string_view data = bytes.substr(0, piece);
    while (reader.Read(data) == Outcome::kMessage)
      messages.push_back(take ? reader.Take() : std::string(reader.View()));
    EXPECT_TRUE(data.empty());
  }
  return messages;
}

TEST(MessagePrefix, IsUncompressedAndBigEndian) { EXPECT_EQ(MessagePrefix(0x01020304).View(), "\0\1\2\3\4"s); }

TEST(MessageReader, SplitsInputOfAnyPieceSize) {
  const std::string large(300'000, 'x');
  const std::string bytes = Framed("first") + Framed("") + Framed(large) + Framed("last");
  for (const std::size_t piece : {1, 2, 3, 5, 7, 10, 1000, 65'536, 1'000'000}) {
    for (const bool take : {true, false}) {
      EXPECT_THAT(ReadAll(bytes, piece, take), ElementsAre("first", "", large, "last")) << piece;
    }
  }
}

TEST(MessageReader, ReadsMessagesWhileTheyAreWanted) {
  const std::string bytes = Framed("a") + Framed("b") + Framed("c");
  MessageReader reader(1000);
  std::vector<std::string> messages;
  const auto wanted = [&] { return messages.size() < 2; };
  const auto add = [&] { messages.push_back(reader.Take()); };
  EXPECT_EQ(reader.ReadAll(bytes, wanted, add), Outcome::kIncomplete);
  EXPECT_THAT(messages, ElementsAre("a", "b"));
  messages.clear();
  EXPECT_EQ(MessageReader(1000).ReadAll(Framed("a") + "\1\0\0\0\1x"s, wanted, [] {}), Outcome::kCompressed);
  EXPECT_EQ(MessageReader(2).ReadAll(Framed("abc"), wanted, [] {}), Outcome::kTooLarge);
}

TEST(MessageReader, DoesNotCopyWhatArrivesInOnePiece) {
  MessageReader reader(100);
  const std::string bytes = Framed("hello");
  std::string_view data = bytes;
  ASSERT_EQ(reader.Read(data), Outcome::kMessage);
  EXPECT_EQ(reader.View().data(), bytes.data() + 5);
}

TEST(MessageReader, RefusesLargeAndCompressedMessages) {
  MessageReader reader(4);
  const std::string bytes = Framed("hello");
  std::string_view data = bytes;
  EXPECT_EQ(reader.Read(data), Outcome::kTooLarge);
  EXPECT_EQ(reader.AnnouncedBytes(), 5u);
  MessageReader other(4);
  const std::string compressed = "\1\0\0\0\1x"s;
  data = compressed;
  EXPECT_EQ(other.Read(data), Outcome::kCompressed);
}

}  // namespace
}  // namespace apimesh::grpc
