#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/websocket/frame_reader.h"
#include "lib/websocket/handshake.h"
#include "lib/websocket/test_client_frame.h"

namespace apimesh::websocket {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

std::string Parts(std::string_view input, std::size_t step = 1 << 20) {
  FrameReader reader;
  std::string seen;
  while (!input.empty()) {
    std::string_view piece = input.substr(0, step);
    input.remove_prefix(piece.size());
    while (const std::optional<Part> part = reader.Next(piece)) {
      seen += fmt::format("{}{}{}{} ", static_cast<int>(part->opcode), part->first ? "[" : "", part->data,
                          part->last ? "]" : "");
    }
    if (!reader.Error().empty()) return seen + std::string(reader.Error());
  }
  return seen;
}

TEST(Handshake, AnswersTheExampleOfTheRfc) {
  EXPECT_THAT(AnswerHeaders("dGhlIHNhbXBsZSBub25jZQ==", "chat"),
              ElementsAre(Pair("upgrade", "websocket"), Pair("connection", "Upgrade"),
                          Pair("sec-websocket-accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="),
                          Pair("sec-websocket-protocol", "chat")));
}

TEST(Handshake, ChecksMethodVersionAndKey) {
  const std::string key = "dGhlIHNhbXBsZSBub25jZQ==";
  EXPECT_FALSE(Check({"GET", key, "13"}));
  EXPECT_EQ(Check({"POST", key, "13"})->code, 405);
  EXPECT_EQ(Check({"GET", key, "8"})->text, "missing or bad WebSocket Version");
  EXPECT_EQ(Check({"GET", "c2hvcnQ=", "13"})->code, 400);
  EXPECT_EQ(Check({"GET", "", "13"})->code, 400);
}

TEST(Handshake, SplitsSubprotocols) {
  EXPECT_THAT(Subprotocols(" a, b.c ,,d"), ElementsAre("a", "b.c", "d"));
  EXPECT_THAT(Subprotocols(""), ElementsAre());
}

TEST(FrameReader, ReadsMessagesInAnyPieces) {
  const std::string input = ClientFrame(Opcode::kBinary, "ab") + ClientFrame(Opcode::kText, "c", false) +
                            ClientFrame(Opcode::kPing, "p") + ClientFrame(Opcode::kContinuation, "") +
                            ClientFrame(Opcode::kBinary, "") + ClientFrame(Opcode::kClose, "");
  EXPECT_EQ(Parts(input), "2[ab] 1[c 9[p] 1] 2[] 8[] ");
  EXPECT_EQ(Parts(input, 1), "2[a 2b] 1[c 9[p] 1] 2[] 8[] ");
  EXPECT_EQ(Parts(input, 3), "2[ab] 1[c 9[p] 1] 2[] 8[] ");  // heads are split after three bytes
}

TEST(FrameReader, ReadsAllLengths) {
  for (const std::size_t size : {125, 126, 65535, 65536, 100'000}) {
    const std::string payload(size, 'x');
    EXPECT_EQ(Parts(ClientFrame(Opcode::kBinary, payload)), "2[" + payload + "] ");
  }
}

TEST(FrameReader, DoesNotCollectLargeMessages) {
  FrameReader reader;
  const std::string frame = ClientFrame(Opcode::kBinary, std::string(1 << 20, 'x'));
  std::string_view input = std::string_view(frame).substr(0, 114);
  const std::optional<Part> part = reader.Next(input);
  ASSERT_TRUE(part);
  EXPECT_EQ(part->data, std::string(100, 'x'));
  EXPECT_FALSE(reader.Next(input));
}

TEST(FrameReader, RefusesBrokenFrames) {
  const std::pair<std::string, std::string> cases[] = {
      {EncodeFrame(Opcode::kBinary, "123456"), "a frame of the client is not masked"},
      {std::string("\xc2\x80\0\0\0\0", 6), "a frame uses an extension that was not negotiated"},
      {std::string("\x83\x80\0\0\0\0", 6), "the type of a frame is unknown"},
      {ClientFrame(Opcode::kContinuation, "x"), "a frame does not belong to a message"},
      {ClientFrame(Opcode::kText, "x", false) + ClientFrame(Opcode::kText, "y"),
       "1[x a frame does not belong to a message"},
      {ClientFrame(Opcode::kPing, "x", false), "a control frame is fragmented or too large"},
      {ClientFrame(Opcode::kPing, std::string(126, 'x')), "a control frame is fragmented or too large"},
      {"\x82\xff\x80" + std::string(12, '\0'), "the length of a frame is not valid"},
  };
  for (const auto& [input, want] : cases) EXPECT_EQ(Parts(input), want);
}

TEST(FrameWriter, EncodesAllLengths) {
  EXPECT_EQ(EncodeFrame(Opcode::kBinary, "\x01", "abc"),
            "\x82\x04\x01"
            "abc");
  EXPECT_EQ(EncodeFrame(Opcode::kBinary, std::string(126, 'x')).substr(0, 4), std::string("\x82\x7e\0\x7e", 4));
  EXPECT_EQ(EncodeFrame(Opcode::kBinary, std::string(65536, 'x')).substr(0, 10),
            std::string("\x82\x7f\0\0\0\0\0\x01\0\0", 10));
  EXPECT_EQ(EncodeClose(kNormalClosure), "\x88\x02\x03\xe8");
}

}  // namespace
}  // namespace apimesh::websocket
