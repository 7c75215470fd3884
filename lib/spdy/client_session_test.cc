#include "lib/spdy/client_session.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "lib/spdy/byte_order.h"
#include "lib/spdy/dictionary.h"

namespace apimesh::spdy {
namespace {

/// The frames of a server.
class Server {
 public:
  std::string Reply(std::uint32_t stream, const Headers& headers = {}, bool fin = false) {
    return Headed(Type::kSynReply, stream, headers, fin);
  }
  std::string Headed(Type type, std::uint32_t stream, const Headers& headers, bool fin) {
    std::string payload, out;
    AppendUint32(payload, stream);
    AppendControl(out, type, fin ? kFin : 0, payload + compressor_.Compress(headers));
    return out;
  }
  static std::string Data(std::uint32_t stream, std::string_view data, bool fin = false) {
    std::string out;
    AppendData(out, stream, data, fin);
    return out;
  }
  static std::string Reset(std::uint32_t stream) {
    std::string out;
    AppendRstStream(out, stream, kCancel);
    return out;
  }
  static std::string Ping(std::uint32_t id) {
    std::string out;
    AppendPing(out, id);
    return out;
  }

 private:
  HeaderCompressor compressor_;
};

std::string Events(ClientSession& session, std::string_view input, std::size_t step = 1 << 20) {
  constexpr const char* kNames[] = {"opened", "data", "ended", "pong", "goaway"};
  std::string seen;
  while (!input.empty()) {
    std::string_view piece = input.substr(0, step);
    input.remove_prefix(piece.size());
    while (const std::optional<Event> event = session.Next(piece)) {
      seen += fmt::format("{}{} {}{};", kNames[static_cast<int>(event->kind)], event->stream, event->data,
                          event->reset ? "reset" : "");
    }
    if (!session.Error().empty()) return seen + "error: " + session.Error();
  }
  return seen;
}

TEST(Dictionary, IsTheOneOfVersion3) {
  EXPECT_EQ(Dictionary().size(), 1423u);
  const auto* bytes = reinterpret_cast<const Bytef*>(Dictionary().data());
  EXPECT_EQ(adler32(adler32(0, nullptr, 0), bytes, static_cast<uInt>(Dictionary().size())), 0xe3c6a7c2u);
}

TEST(HeaderBlock, BlocksShareOneCompression) {
  HeaderCompressor compressor;
  HeaderDecompressor decompressor{Limits()};
  for (const Headers& headers : {Headers{{"streamtype", "error"}}, Headers{}, Headers{{"a", ""}, {"b", "\xff"}}}) {
    Headers seen;
    ASSERT_TRUE(decompressor.Decompress(compressor.Compress(headers), seen));
    EXPECT_EQ(seen, headers);
  }
}

TEST(HeaderBlock, ExpandsOnlyToItsLimit) {
  HeaderCompressor compressor;
  const std::string block = compressor.Compress({{"a", std::string(1 << 20, 'x')}});
  EXPECT_LT(block.size(), 8000u);
  HeaderDecompressor decompressor{Limits()};
  Headers seen;
  EXPECT_FALSE(decompressor.Decompress(block, seen));
}

// The bytes that github.com/moby/spdystream 0.5.1 sends for the same call, except for the compressed block.
TEST(ClientSession, OpensStreamsWithOddIds) {
  ClientSession session{Limits()};
  EXPECT_EQ(session.Open({{"streamtype", "error"}}), 1u);
  EXPECT_EQ(session.Open({{"streamtype", "stdin"}}), 3u);
  const std::string out = session.TakeOutput();
  EXPECT_EQ(out.substr(0, 4), std::string("\x80\x03\x00\x01", 4));
  EXPECT_EQ(out.substr(8, 10), std::string("\0\0\0\x01\0\0\0\0\0\0", 10));
}

TEST(ClientSession, ReportsWhatTheServerSends) {
  for (const std::size_t step : {1, 3, 7, 1000}) {
    ClientSession session{Limits()};
    Server server;
    session.Open({});
    session.Open({});
    std::string input = server.Reply(1);  // the order of the compressed headers matters
    input += server.Reply(3);
    input += Server::Data(3, "x") + Server::Data(3, "y", true) + Server::Data(3, "late") + Server::Data(1, "", true) +
             Server::Reset(1);
    EXPECT_EQ(Events(session, input, step), "opened1 ;opened3 ;data3 x;data3 y;ended3 ;ended1 ;") << step;
  }
}

TEST(ClientSession, LargeDataIsNotCollected) {
  ClientSession session{Limits()};
  Server server;
  session.Open({});
  Events(session, server.Reply(1));
  const std::string frame = Server::Data(1, std::string(1 << 20, 'x'), true);
  std::string_view part = std::string_view(frame).substr(0, 108);
  EXPECT_EQ(session.Next(part)->data.size(), 100u);
  EXPECT_FALSE(session.Next(part));
}

TEST(ClientSession, SendsUntilOneSideEnds) {
  ClientSession session{Limits()};
  Server server;
  const std::uint32_t one = session.Open({}), two = session.Open({});
  session.TakeOutput();
  session.Send(one, "ab");
  EXPECT_EQ(session.TakeOutput(), std::string("\0\0\0\x01\0\0\0\x02"
                                              "ab",
                                              10));
  session.End(one);
  session.End(one);
  session.Send(one, "c");
  EXPECT_EQ(session.TakeOutput(), std::string("\0\0\0\x01\x01\0\0\0", 8));
  EXPECT_EQ(Events(session, server.Reply(two) + Server::Reset(two)), "opened3 ;ended3 reset;");
  session.Send(two, "c");
  session.End(two);
  EXPECT_FALSE(session.HasOutput());
}

TEST(ClientSession, PingsInBothDirections) {
  ClientSession session{Limits()};
  session.Ping();
  session.Ping();  // the first one is not answered yet
  EXPECT_EQ(session.TakeOutput(), Server::Ping(1));
  EXPECT_EQ(Events(session, Server::Ping(3) + Server::Ping(1) + Server::Ping(1)), "pong0 ;");
  session.Ping();
  EXPECT_EQ(session.TakeOutput(), Server::Ping(3));
  EXPECT_EQ(Events(session, Server::Ping(2)), "");
  EXPECT_EQ(session.TakeOutput(), Server::Ping(2));
}

TEST(ClientSession, ServerCannotFillTheOutput) {
  ClientSession session{Limits()};
  std::string pings;
  for (int i = 0; i < 2000; ++i) pings += Server::Ping(2);
  EXPECT_EQ(Events(session, pings), "error: the server asks for replies and does not read them");
}

TEST(ClientSession, RefusesStreamsOfTheServer) {
  ClientSession session{Limits()};
  Server server;
  std::string payload, frame, refusal;
  HeaderCompressor compressor;
  AppendSynStream(frame, 2, compressor.Compress({{"a", "b"}}));
  EXPECT_EQ(Events(session, frame + Server::Data(2, "x")), "");
  AppendRstStream(refusal, 2, kRefusedStream);
  EXPECT_EQ(session.TakeOutput(), refusal);
}

TEST(ClientSession, EndsAtBrokenFrames) {
  const auto control = [](std::uint16_t type, std::string_view payload) {
    std::string frame;
    AppendControl(frame, static_cast<Type>(type), 0, payload);
    return frame;
  };
  const std::pair<std::string, std::string> cases[] = {
      {std::string("\x80\x02\0\x06\0\0\0\x04\0\0\0\x02", 12), "error: version 2 of SPDY is not supported"},
      {std::string("\0\0\0\0\0\0\0\x01x", 9), "error: a data frame has no stream"},
      {control(3, "abc"), "error: a control frame of type 3 has 3 bytes"},
      {control(2, std::string("\0\0\0\x01plain text", 14)), "error: headers are not valid or too large"},
      {control(4, std::string(100'000, 'x')), "error: a control frame has 100000 bytes, at most 65536 are allowed"},
      {control(9, "12345678") + control(77, "x") + control(4, "xxxx"), ""},  // skipped
  };
  for (const auto& [input, want] : cases) {
    ClientSession session{Limits()};
    session.Open({});
    EXPECT_EQ(Events(session, input), want);
  }
}

TEST(ClientSession, CloseEndsAllStreams) {
  ClientSession session{Limits()};
  Server server;
  const std::uint32_t one = session.Open({});
  session.Open({});
  session.End(one);
  session.TakeOutput();
  session.Close();
  std::string want = Server::Reset(3);
  AppendGoAway(want, 0);
  EXPECT_EQ(session.TakeOutput(), want);
  EXPECT_EQ(Events(session, server.Reply(1)), "");
}

}  // namespace
}  // namespace apimesh::spdy
