#include "lib/http2/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include "lib/http2/test_frames.h"
#include "lib/testing/manual_clock.h"

namespace apimesh::http2 {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using namespace std::string_literals;

const HeaderViews kRequest{{":method", "POST"}, {":scheme", "http"}, {":path", "/a"}, {":authority", "b"}};
const Headers kOk{{":status", "200"}};

/// Records all events.
class Recorder final : public Stream {
 public:
  Headers headers;
  std::string body;
  bool hold = false;
  bool remote_ended = false;
  int rooms = 0;
  std::optional<std::uint32_t> closed;

  bool SendText(std::string text) {
    const SharedBytes piece(std::move(text));
    return Send(std::span(&piece, 1));
  }

 private:
  void OnHeader(std::string_view name, std::string_view value) override { headers.emplace_back(name, value); }
  void OnData(std::string_view data) override {
    body += data;
    if (hold) HoldInput();
  }
  void OnRemoteEnd() override { remote_ended = true; }
  void OnClosed(std::uint32_t error_code) override { closed = error_code; }
  void OnBelowLowWatermark() override { ++rooms; }
};

/// The complete output of a session.
std::string TakeOutput(Session& session) {
  std::string all;
  for (auto pieces = session.Output(); !pieces.empty(); pieces = session.Output()) {
    std::size_t size = 0;
    for (const std::string_view piece : pieces) {
      all += piece;
      size += piece.size();
    }
    session.Written(size);
  }
  return all;
}

/// A client and a server connected in memory.
class SessionPair : public ::testing::Test {
 protected:
  SessionPair()
      : client_({.clock = clock_, .wants_write = [this] { ++client_wants_write_; }}),
        server_({.clock = clock_, .server = true, .accept = [this] { return Accept(); }}) {
    Exchange();
  }
  std::shared_ptr<Stream> Accept() {
    auto stream = std::make_shared<Recorder>();
    stream->hold = hold_;
    accepted_.push_back(stream);
    return stream;
  }
  /// Runs until neither side has output.
  void Exchange() {
    for (bool more = true; more;) {
      const std::string request = TakeOutput(client_);
      EXPECT_TRUE(request.empty() || server_.Receive(request));
      const std::string response = TakeOutput(server_);
      EXPECT_TRUE(response.empty() || client_.Receive(response));
      more = !request.empty() || !response.empty();
    }
  }
  std::shared_ptr<Recorder> Open() {
    auto stream = std::make_shared<Recorder>();
    EXPECT_TRUE(client_.Open(stream, kRequest));
    return stream;
  }

  const testing::ManualClock clock_;
  bool hold_ = false;
  int client_wants_write_ = 0;
  std::vector<std::shared_ptr<Recorder>> accepted_;
  Session client_, server_;
};

TEST_F(SessionPair, CarriesARequestAndItsResponse) {
  const auto request = Open();
  request->SendText("question");
  request->End();
  Exchange();
  ASSERT_EQ(accepted_.size(), 1u);
  const auto response = accepted_[0];
  EXPECT_THAT(response->headers, ElementsAre(Pair(":method", "POST"), Pair(":scheme", "http"), Pair(":path", "/a"),
                                             Pair(":authority", "b")));
  EXPECT_EQ(response->body, "question");
  EXPECT_TRUE(response->remote_ended);
  server_.Respond(*response, kOk, false);
  Prefix prefix;
  prefix.size = 2;
  prefix.bytes = {'x', ':'};
  const std::vector<SharedBytes> pieces{SharedBytes("an"s), SharedBytes("swer"s)};
  response->Send(pieces, prefix);
  response->Send({}, prefix);
  response->End(std::make_shared<const Headers>(Headers{{"status", "0"}}));
  Exchange();
  EXPECT_THAT(request->headers, ElementsAre(Pair(":status", "200"), Pair("status", "0")));
  EXPECT_EQ(request->body, "x:answerx:");
  EXPECT_EQ(request->closed, 0u);
  EXPECT_EQ(response->closed, 0u);
  EXPECT_FALSE(request->SendText("late"));
}

TEST_F(SessionPair, HeldInputStopsTheSenderAtTheWindow) {
  hold_ = true;
  const auto request = Open();
  const std::size_t window = Limits().stream_window;
  request->SendText(std::string(3 * window, 'x'));
  request->End();
  Exchange();
  const auto receiver = accepted_.at(0);
  EXPECT_EQ(receiver->body.size(), window);
  EXPECT_TRUE(request->AboveHighWatermark());
  const auto other = Open();
  other->End();
  Exchange();
  EXPECT_EQ(accepted_.size(), 2u) << "other streams are not held back";
  receiver->hold = false;
  receiver->ReleaseInput();
  Exchange();
  EXPECT_EQ(receiver->body.size(), 3 * window);
  EXPECT_TRUE(receiver->remote_ended);
}

TEST_F(SessionPair, ReportsRoomAlsoIfLittleWasSentMeanwhile) {
  hold_ = true;
  const auto request = Open();
  const std::size_t window = Limits().stream_window;
  request->SendText(std::string(window + Limits().high_watermark + 1, 'x'));
  EXPECT_TRUE(request->AboveHighWatermark());
  Exchange();
  EXPECT_TRUE(request->AboveHighWatermark());
  // Not enough bytes are sent for OnBelowLowWatermark() when other code sends a few more bytes.
  accepted_.at(0)->hold = false;
  request->SendText("x");
  EXPECT_TRUE(request->AboveHighWatermark());
  accepted_.at(0)->ReleaseInput();
  Exchange();
  EXPECT_FALSE(request->AboveHighWatermark());
  EXPECT_EQ(request->rooms, 1);
}

TEST_F(SessionPair, LargePiecesAreNotCopied) {
  const SharedBytes large(std::string(2'000, 'x')), small("y"s);
  const auto request = Open();
  const std::vector<SharedBytes> pieces{small, large, small, small};
  request->Send(pieces);
  request->End();
  const auto output = client_.Output();
  ASSERT_EQ(output.size(), 3u) << "small pieces and frame headers are joined";
  EXPECT_EQ(output[1].data(), large.View().data());
  EXPECT_THAT(std::string(output[0]), ::testing::EndsWith("y"));
  EXPECT_THAT(std::string(output[2]), ::testing::StartsWith("yy"));
}

TEST_F(SessionPair, OutputStaysTheSameUntilItIsWritten) {
  const auto request = Open();
  request->SendText(std::string(5'000, 'x'));
  const std::string all = [&] {
    std::string joined;
    for (const std::string_view piece : client_.Output()) joined += piece;
    return joined;
  }();
  Open()->End();
  std::string taken;
  while (taken.size() < all.size()) {
    const std::string_view first = client_.Output()[0].substr(0, 700);
    taken += first;
    client_.Written(first.size());
  }
  EXPECT_EQ(taken, all);
}

TEST_F(SessionPair, AsksOnceToWrite) {
  const auto request = Open();
  request->SendText("a");
  request->SendText("b");
  EXPECT_EQ(client_wants_write_, 1);
  Exchange();
  request->SendText("c");
  EXPECT_EQ(client_wants_write_, 2);
}

// A request that arrives after GoAway() was called, but before the GOAWAY frame is written, must not run: the GOAWAY
// declares that the server has not processed it, so its client sends it to another server.
TEST_F(SessionPair, ALeavingServerRefusesWhatItsGoAwayDoesNotCover) {
  const auto first = Open();
  Exchange();
  server_.GoAway();
  const auto second = Open();
  ASSERT_TRUE(server_.Receive(TakeOutput(client_)));
  EXPECT_EQ(accepted_.size(), 1u);
  EXPECT_FALSE(server_.Finished());
  Exchange();
  EXPECT_EQ(second->closed, std::uint32_t{NGHTTP2_REFUSED_STREAM});
  EXPECT_EQ(first->closed, std::nullopt);
  EXPECT_FALSE(client_.TakesRequests());
  server_.Respond(*accepted_[0], kOk, true);
  first->End();
  Exchange();
  EXPECT_EQ(first->closed, 0u);
  EXPECT_TRUE(server_.Finished());
}

TEST_F(SessionPair, ALostConnectionSaysWhatWasNeverSent) {
  const auto sent = Open();
  Exchange();
  const auto unsent = Open();
  client_.Terminate();
  EXPECT_EQ(sent->closed, std::uint32_t{NGHTTP2_INTERNAL_ERROR});
  EXPECT_EQ(unsent->closed, std::uint32_t{NGHTTP2_REFUSED_STREAM});
  EXPECT_FALSE(client_.Open(std::make_shared<Recorder>(), kRequest));
}

TEST_F(SessionPair, AStreamMayOutliveItsSession) {
  auto stream = std::make_shared<Recorder>();
  {
    Session session({.clock = clock_});
    ASSERT_TRUE(session.Open(stream, kRequest));
  }
  EXPECT_FALSE(stream->IsOpen());
  EXPECT_FALSE(stream->SendText("x"));
  stream->End();
  stream->Reset(NGHTTP2_CANCEL);
  stream->ReleaseInput();
}

// ---- floods, by a client and by a server

constexpr std::string_view k200 = "\x88";  // :status 200

struct Flood {
  const char* name;
  bool by_client, by_server;
  std::string (*part)(std::uint32_t i, bool by_client);
};

const Flood kFloods[] = {
    {"Ping", true, true, [](std::uint32_t, bool) { return Frame(NGHTTP2_PING, 0, 0, "12345678"); }},
    {"PingAck", true, true, [](std::uint32_t, bool) { return Frame(NGHTTP2_PING, NGHTTP2_FLAG_ACK, 0, "12345678"); }},
    {"Settings", true, true,
     [](std::uint32_t, bool) { return Frame(NGHTTP2_SETTINGS, 0, 0, {"\0\4\0\0\xff\xff", 6}); }},
    {"ManySettings", true, true,
     [](std::uint32_t, bool) {
       std::string entries;
       for (int i = 0; i < 33; ++i) entries += "\0\4\0\0\xff\xff"s;
       return Frame(NGHTTP2_SETTINGS, 0, 0, entries);
     }},
    {"Priority", true, true,
     [](std::uint32_t i, bool) { return Frame(NGHTTP2_PRIORITY, 0, 2 * i + 1, {"\0\0\0\0\x10", 5}); }},
    {"WindowUpdate", true, true,
     [](std::uint32_t, bool) { return Frame(NGHTTP2_WINDOW_UPDATE, 0, 0, {"\0\0\0\1", 4}); }},
    {"EmptyData", true, true,
     [](std::uint32_t i, bool by_client) {
       return (i > 0 ? "" : Frame(NGHTTP2_HEADERS, kEndHeaders, 1, by_client ? kGet : k200)) +
              Frame(NGHTTP2_DATA, 0, 1, "");
     }},
    {"Continuation", true, true,
     [](std::uint32_t i, bool by_client) {
       return i == 0 ? Frame(NGHTTP2_HEADERS, 0, 1, by_client ? kGet : k200)
                     : Frame(NGHTTP2_CONTINUATION, 0, 1, "\x84");
     }},
    {"RapidReset", true, false,
     [](std::uint32_t i, bool) {
       return Frame(NGHTTP2_HEADERS, kEndHeaders | kEndStream, 2 * i + 1, kGet) +
              Frame(NGHTTP2_RST_STREAM, 0, 2 * i + 1, {"\0\0\0\x08", 4});
     }},
    // Enters a header of 4,000 bytes into the compression table and then refers to it 10,000 times.
    {"HeaderBomb", true, true,
     [](std::uint32_t i, bool by_client) {
       const std::string head(by_client ? kGet : k200);
       const std::string block =
           i == 0 ? head + "\x40\x01x\x7f\xa1\x1e" + std::string(4000, 'y') : head + std::string(10'000, '\xbe');
       return Frame(NGHTTP2_HEADERS, kEndHeaders | (by_client ? kEndStream : 0), by_client ? 2 * i + 1 : 1, block);
     }},
};

struct FloodCase {
  Flood flood;
  bool by_client;
};
class SessionFlood : public ::testing::TestWithParam<FloodCase> {};

TEST_P(SessionFlood, EndsTheConnection) {
  const auto& [flood, by_client] = GetParam();
  const testing::ManualClock clock;
  Session session({.clock = clock, .server = by_client, .accept = [] { return std::make_shared<Recorder>(); }});
  ASSERT_TRUE(by_client || session.Open(std::make_shared<Recorder>(), kRequest));
  TakeOutput(session);
  std::string begin = by_client ? "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"s : ""s;
  ASSERT_TRUE(session.Receive(begin + Frame(NGHTTP2_SETTINGS, 0, 0, "")));
  TakeOutput(session);
  constexpr std::uint32_t kMost = 1'000'000;
  std::uint32_t sent = 0;
  bool ended = false;
  while (!ended && sent < kMost) {
    std::string batch;
    while (batch.size() < 16'000) batch += flood.part(sent++, by_client);
    ended = !session.Receive(batch);
    TakeOutput(session);
    ended = ended || session.Finished();
  }
  EXPECT_TRUE(ended) << "still open after " << sent;
}

std::vector<FloodCase> AllFloods() {
  std::vector<FloodCase> cases;
  for (const Flood& flood : kFloods) {
    if (flood.by_client) cases.push_back({flood, true});
    if (flood.by_server) cases.push_back({flood, false});
  }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Table, SessionFlood, ::testing::ValuesIn(AllFloods()), [](const auto& info) {
  return std::string(info.param.flood.name) + (info.param.by_client ? "ByAClient" : "ByAServer");
});

}  // namespace
}  // namespace apimesh::http2
