// Streams that end themselves or the complete session while the session calls them.
#include <gtest/gtest.h>

#include "lib/http2/session.h"
#include "lib/http2/test_frames.h"
#include "lib/testing/manual_clock.h"

namespace apimesh::http2 {
namespace {

const std::string kRequest = Frame(NGHTTP2_HEADERS, kEndHeaders, 1, kGet);

/// Counts its events, and calls `on_data` and `on_closed` if they are set.
class Counter final : public Stream {
 public:
  std::function<void()> on_data, on_closed;
  int data = 0, ends = 0, closed = 0;

 private:
  void OnHeader(std::string_view, std::string_view) override {}
  void OnData(std::string_view) override {
    ++data;
    if (on_data) on_data();
  }
  void OnRemoteEnd() override { ++ends; }
  void OnClosed(std::uint32_t) override {
    ++closed;
    if (on_closed) on_closed();
  }
};

void WriteAll(Session& session) {
  for (auto pieces = session.Output(); !pieces.empty(); pieces = session.Output()) {
    std::size_t size = 0;
    for (const std::string_view piece : pieces) size += piece.size();
    session.Written(size);
  }
}

TEST(SessionEnd, FramesAfterAStreamHasTerminatedTheSessionAreNotRead) {
  std::vector<std::shared_ptr<Counter>> streams;
  Session* terminated = nullptr;
  const testing::ManualClock clock;
  Session session({.clock = clock, .server = true, .accept = [&] {
                     streams.push_back(std::make_shared<Counter>());
                     streams.back()->on_data = [&terminated] { terminated->Terminate(); };
                     return streams.back();
                   }});
  terminated = &session;
  EXPECT_FALSE(session.Receive(kPreface + kRequest + Frame(NGHTTP2_DATA, 0, 1, "a") +
                               Frame(NGHTTP2_DATA, NGHTTP2_FLAG_END_STREAM, 1, "b") +
                               Frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 3, "\x82\x86\x84")));
  ASSERT_EQ(streams.size(), 1u);
  EXPECT_EQ(streams[0]->data, 1);
  EXPECT_EQ(streams[0]->ends, 0);
  EXPECT_EQ(streams[0]->closed, 1);
  EXPECT_FALSE(session.HasStreams());
}

TEST(SessionEnd, StreamsThatAreGoneAreNotAskedForData) {
  const testing::ManualClock clock;
  Session session({.clock = clock});
  const HeaderViews head{{":method", "POST"}, {":scheme", "http"}, {":path", "/"}, {":authority", "a"}};
  const auto ending = std::make_shared<Counter>();
  auto sending = std::make_shared<Counter>();  // in the end only the session holds it
  ASSERT_TRUE(session.Open(ending, head));
  ASSERT_TRUE(session.Open(sending, head));
  WriteAll(session);
  ending->on_closed = [&session] { session.Terminate(); };
  // The reset is first in the output, and the data would follow.
  ending->Reset(NGHTTP2_CANCEL);
  const SharedBytes piece(std::string(5000, 'x'));
  sending->Send(std::span(&piece, 1));
  const std::weak_ptr<Counter> destroyed = std::exchange(sending, nullptr);
  WriteAll(session);
  EXPECT_EQ(ending->closed, 1);
  EXPECT_TRUE(destroyed.expired());
}

TEST(SessionEnd, AStreamThatResetItselfReceivesNothingMore) {
  std::shared_ptr<Counter> stream;
  const testing::ManualClock clock;
  Session session({.clock = clock, .server = true, .accept = [&stream] {
                     stream = std::make_shared<Counter>();
                     stream->on_data = [&stream] { stream->Reset(NGHTTP2_CANCEL); };
                     return stream;
                   }});
  EXPECT_TRUE(session.Receive(kPreface + kRequest + Frame(NGHTTP2_DATA, 0, 1, "a") +
                              Frame(NGHTTP2_DATA, NGHTTP2_FLAG_END_STREAM, 1, "b")));
  WriteAll(session);
  EXPECT_EQ(stream->data, 1);
  EXPECT_EQ(stream->ends, 0);
  EXPECT_EQ(stream->closed, 1);
}

}  // namespace
}  // namespace apimesh::http2
