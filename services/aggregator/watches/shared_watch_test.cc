#include "services/aggregator/watches/shared_watch.h"

#include <boost/asio/detached.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/testing/manual_clock.h"
#include "lib/testing/run.h"
#include "services/aggregator/watches/watch_query.h"

namespace apimesh::aggregator {
namespace {

using State = SharedWatch::Pending::State;
using Follower = SharedWatch::Follower;

class SharedWatchTest : public ::testing::Test {
 protected:
  testing::ManualClock clock;
  std::shared_ptr<SharedWatch> watch = std::make_shared<SharedWatch>(10, [this] { ++ended; }, clock);
  int ended = 0;

  struct UpstreamFrame {
    std::string text;
    mesh::ResumePosition position;
  };
  /// Writes frames that the upstream has ready, then runs everything that follows. False: there are no followers left.
  bool SendAll(std::vector<UpstreamFrame> frames) {
    bool followed = false;
    const auto write = [](SharedWatch& to, std::vector<UpstreamFrame> given, bool& last) -> Task<> {
      for (UpstreamFrame& one : given) {
        std::vector<SharedBytes> pieces(1, SharedBytes(std::move(one.text)));
        last = co_await to.WriteEvents(std::move(pieces), one.position);
      }
    };
    boost::asio::io_context context{1};
    boost::asio::co_spawn(context, write(*watch, std::move(frames), followed), boost::asio::detached);
    context.run();
    return followed;
  }
  bool Send(std::string text, mesh::ResumePosition position) {
    return SendAll(std::vector<UpstreamFrame>(1, UpstreamFrame{std::move(text), position}));
  }
  bool SendPart(std::string text) {
    return testing::RunTask(watch->Write(std::vector<SharedBytes>(1, SharedBytes(std::move(text)))));
  }
  static std::string Text(const SharedWatch::Pending& pending) {
    std::string text;
    for (const SharedBytes& frame : pending.frames) text += frame.View();
    return text;
  }
  /// Takes the pending frames, as a client does.
  std::string TakePending(Follower& follower, State expected = State::kOpen) {
    const SharedWatch::Pending pending = watch->TakePending(follower);
    EXPECT_EQ(pending.state, expected);
    follower.position = pending.position;
    return Text(pending);
  }
};

TEST_F(SharedWatchTest, EveryFollowerReceivesTheEventsAfterItsPosition) {
  Follower a{.position = 10}, b{.position = 12}, late{.position = 9};
  ASSERT_TRUE(watch->Join(a));
  EXPECT_FALSE(watch->Join(late)) << "what happened at 10 is not here";
  Send("eleven ", {11});
  Send("twelve ", {12});
  ASSERT_TRUE(watch->Join(b));
  Send("thirteen ", {13});
  EXPECT_EQ(TakePending(a), "eleven twelve thirteen ");
  EXPECT_EQ(TakePending(b), "thirteen ");
  EXPECT_EQ(TakePending(a), "");
  EXPECT_EQ(a.position, 13u);
  Follower ahead{.position = 15};
  ASSERT_TRUE(watch->Join(ahead));
  Send("fourteen ", {14});
  Send("sixteen ", {16});
  EXPECT_EQ(TakePending(ahead), "sixteen ") << "another replica had sent it more";
  EXPECT_EQ(TakePending(a), "fourteen sixteen ");
  watch->Leave(a);
  watch->Leave(b);
  EXPECT_EQ(ended, 0);
  watch->Leave(ahead);
  EXPECT_EQ(ended, 1) << "no follower is left";
}

TEST_F(SharedWatchTest, OldFramesAreNotRetained) {
  Follower quick{.position = 10}, early{.position = 10}, late{.position = 10};
  ASSERT_TRUE(watch->Join(quick));
  Send("eleven ", {11});
  clock.Advance(std::chrono::seconds(30));
  Send("twelve ", {12});
  EXPECT_TRUE(watch->Join(early));
  clock.Advance(std::chrono::milliseconds(1));
  Send("thirteen ", {13});
  EXPECT_FALSE(watch->Join(late)) << "what happened at 11 is gone";
  watch->Leave(quick);
  watch->Leave(early);
}

TEST_F(SharedWatchTest, RetainedFramesAreLimitedByBytes) {
  const std::string large(600'000, 'x');
  Follower quick{.position = 10}, late{.position = 10}, later{.position = 11};
  ASSERT_TRUE(watch->Join(quick));
  Send(large, {11});
  EXPECT_TRUE(watch->Join(late));
  watch->Leave(late);
  Send(large, {12});
  late.position = 10;
  EXPECT_FALSE(watch->Join(late)) << "two such frames exceed the limit of 1 MiB";
  EXPECT_TRUE(watch->Join(later));
  watch->Leave(quick);
  watch->Leave(later);
}

TEST_F(SharedWatchTest, BookmarksAdvanceFollowersThatDoNotWantThem) {
  Follower plain{.position = 10}, wants{.position = 10, .wants_bookmarks = true};
  watch->Join(plain);
  watch->Join(wants);
  Send("bookmark", {20, true});
  EXPECT_EQ(TakePending(plain), "");
  EXPECT_EQ(plain.position, 20u);
  EXPECT_EQ(TakePending(wants), "bookmark");
}

TEST_F(SharedWatchTest, PartsOfARevisionAreDeliveredTogether) {
  Follower follower{.position = 10};
  watch->Join(follower);
  SendPart("a");
  EXPECT_EQ(TakePending(follower), "");
  EXPECT_EQ(follower.position, 10u);
  Send("b", {11});
  EXPECT_EQ(TakePending(follower), "ab");
}

TEST_F(SharedWatchTest, ASlowFollowerHasToCatchUp) {
  Follower slow{.position = 10}, quick{.position = 10};
  watch->Join(slow);
  watch->Join(quick);
  const std::string large(700 << 10, 'x');
  for (std::uint64_t position = 11; position < 15; ++position) {
    Send(large, {position});
    EXPECT_EQ(TakePending(quick).size(), large.size());
  }
  EXPECT_EQ(TakePending(slow, State::kLost), "");
  EXPECT_EQ(slow.position, 10u) << "nothing was skipped: it resumes here";
  Follower joins{.position = 10};
  EXPECT_FALSE(watch->Join(joins));
  joins.position = 14;
  EXPECT_TRUE(watch->Join(joins));
}

TEST_F(SharedWatchTest, AfterALostUpstreamAllFollowersHaveToCatchUp) {
  Follower a{.position = 10};
  watch->Join(a);
  Send("eleven", {11});
  SendPart("half of twelve");
  watch->Abort();
  watch->End();
  EXPECT_EQ(TakePending(a, State::kLost), "eleven");
  EXPECT_EQ(a.position, 11u);
  EXPECT_FALSE(watch->Join(a));
  EXPECT_EQ(ended, 1);
}

TEST_F(SharedWatchTest, TheFinalMessageIsSentToAll) {
  Follower a{.position = 10}, b{.position = 10};
  watch->Join(a);
  watch->Join(b);
  SendPart("410");
  watch->End();
  EXPECT_EQ(TakePending(a, State::kFinished), "410");
  EXPECT_EQ(TakePending(b, State::kFinished), "410");
}

TEST_F(SharedWatchTest, AfterAnInterruptionFollowersCatchUpFromTheirPosition) {
  Follower follower{.position = 10}, other{.position = 11};
  ASSERT_TRUE(watch->Join(follower));
  bool cancelled = false;
  watch->OnCancel([&cancelled] { cancelled = true; });
  Send("eleven ", {11});
  watch->Interrupt();
  EXPECT_TRUE(cancelled);
  EXPECT_EQ(ended, 1) << "no other client may join";
  watch->End();  // the upstream was cancelled
  EXPECT_EQ(TakePending(follower, State::kLost), "eleven ") << "what has arrived is delivered";
  EXPECT_EQ(follower.position, 11u);
  EXPECT_FALSE(watch->Join(other));
  watch->Leave(follower);
}

TEST_F(SharedWatchTest, AnInterruptionBeforeTheUpstreamIsOpenCancelsItLater) {
  Follower follower{.position = 10};
  ASSERT_TRUE(watch->Join(follower));
  watch->Interrupt();
  bool cancelled = false;
  watch->OnCancel([&cancelled] { cancelled = true; });
  EXPECT_TRUE(cancelled);
  watch->Leave(follower);
}

TEST_F(SharedWatchTest, TheUpstreamEndsWithItsLastFollower) {
  bool cancelled = false;
  Follower a{.position = 10};
  watch->Join(a);
  watch->OnCancel([&cancelled] { cancelled = true; });
  EXPECT_TRUE(Send("x", {11}));
  watch->Leave(a);
  EXPECT_TRUE(cancelled);
  EXPECT_FALSE(Send("x", {12}));
}

/// Accepts frames as long as it has room.
struct Reader final : SharedWatch::Receiver {
  explicit Reader(SharedWatch& watch, Follower given = {.position = 10}) : watch(watch), follower(std::move(given)) {
    follower.receiver = this;
    watch.Join(follower);
  }
  bool TryWrite(const http::Chunk& chunk) override {
    if (room == 0) return false;
    --room;
    text += chunk.Body().View();
    wire += chunk.Wire();
    return true;
  }
  SharedWatch& watch;
  Follower follower;
  int room = 100;
  std::string text, wire;
};

/// Runs a callback when a frame is delivered.
struct CallbackReceiver final : SharedWatch::Receiver {
  std::function<void()> then;
  bool TryWrite(const http::Chunk&) override {
    then();
    return true;
  }
};

TEST_F(SharedWatchTest, AFrameIsWrittenToFollowersWithRoomInTheirSocket) {
  Reader reader(*watch), full(*watch), ahead(*watch, {.position = 11});
  Reader bookmarks(*watch, {.position = 10, .wants_bookmarks = true});
  full.room = 0;
  Send("eleven ", {11});
  EXPECT_EQ(reader.text, "eleven ");
  EXPECT_EQ(reader.wire, "7\r\neleven \r\n") << "a chunk of HTTP";
  EXPECT_EQ(reader.follower.position, 11u);
  EXPECT_EQ(TakePending(reader.follower), "") << "nothing is delivered twice";
  EXPECT_EQ(ahead.text, "");
  EXPECT_EQ(full.follower.position, 10u);
  EXPECT_EQ(TakePending(full.follower), "eleven ") << "the frame that it had no room for is still available";
  Send("bookmark ", {12, true});
  Send("", {13});
  full.room = 100;
  Send("fourteen ", {14});
  EXPECT_EQ(reader.text, "eleven fourteen ");
  EXPECT_EQ(ahead.text, "fourteen ");
  EXPECT_EQ(bookmarks.text, "eleven bookmark fourteen ");
  EXPECT_EQ(full.text, "fourteen ");
  EXPECT_EQ(reader.follower.position, 14u);
}

TEST_F(SharedWatchTest, FramesThatArriveTogetherAreSentTogether) {
  Reader reader(*watch), full(*watch), some(*watch, {.position = 11}), ahead(*watch, {.position = 20});
  Reader bookmarks(*watch, {.position = 10, .wants_bookmarks = true});
  full.room = 0;
  SendAll({{"eleven ", {11}}, {"", {12}}, {"bookmark ", {13, true}}, {"fourteen ", {14}}});
  EXPECT_EQ(reader.wire, "10\r\neleven fourteen \r\n") << "one chunk";
  EXPECT_EQ(bookmarks.wire, "19\r\neleven bookmark fourteen \r\n");
  EXPECT_EQ(reader.follower.position, 14u);
  EXPECT_EQ(TakePending(reader.follower), "") << "nothing is delivered twice";
  EXPECT_EQ(TakePending(bookmarks.follower), "");
  EXPECT_EQ(some.text, "") << "it has received a part of the batch";
  EXPECT_EQ(TakePending(some.follower), "fourteen ");
  EXPECT_EQ(ahead.text, "");
  EXPECT_EQ(ahead.follower.position, 20u);
  EXPECT_EQ(TakePending(ahead.follower), "");
  EXPECT_EQ(TakePending(full.follower), "eleven fourteen ") << "the same bytes as in the chunk that it had no room for";
  full.room = 100;
  Send("twenty-one ", {21});
  for (const Reader* one : {&reader, &full, &some, &ahead, &bookmarks}) {
    EXPECT_TRUE(one->text.ends_with("twenty-one ")) << one->text;
    EXPECT_EQ(one->follower.position, 21u);
  }
}

/// A socket may accept a part of a batch. The follower then writes the rest of what TakePending() returns.
TEST_F(SharedWatchTest, ABatchHasTheSameBytesAsThePendingFrames) {
  Reader reader(*watch, {.position = 10, .wants_bookmarks = true}),
      full(*watch, {.position = 10, .wants_bookmarks = true});
  full.room = 0;
  SendAll({{"eleven ", {11}}, {"bookmark ", {11, true}}, {"twelve ", {12}}});
  EXPECT_EQ(reader.text, TakePending(full.follower));
  EXPECT_EQ(reader.text, "eleven twelve ");
}

TEST_F(SharedWatchTest, ABatchOfBookmarksIsSentOnlyToFollowersThatWantThem) {
  Reader reader(*watch), bookmarks(*watch, {.position = 10, .wants_bookmarks = true});
  SendAll({{"one ", {11, true}}, {"two ", {12, true}}});
  EXPECT_EQ(reader.wire, "");
  EXPECT_EQ(reader.follower.position, 12u);
  EXPECT_EQ(bookmarks.text, "one two ");
}

TEST_F(SharedWatchTest, ALongSequenceOfEventsIsSentInBatches) {
  Reader reader(*watch);
  std::vector<UpstreamFrame> frames;
  std::string want;
  for (std::uint64_t position = 11; position < 60; ++position) {
    frames.push_back({std::string(40 << 10, static_cast<char>('a' + position % 26)), {position}});
    want += frames.back().text;
  }
  SendAll(std::move(frames));
  EXPECT_TRUE(reader.text == want) << "two megabytes: more than is retained, and nothing is lost";
  EXPECT_EQ(reader.follower.position, 59u);
  EXPECT_EQ(reader.room, 100 - 25) << "by two: 64 KB at a time";
}

TEST_F(SharedWatchTest, AFollowerThatHasTakenABatchDoesNotReceiveItAgain) {
  CallbackReceiver first;
  Follower before{.position = 10, .receiver = &first};
  watch->Join(before);
  Reader reader(*watch);
  std::string pending;
  first.then = [&] { pending = TakePending(reader.follower); };  // woken by something else in between
  SendAll({{"eleven ", {11}}, {"twelve ", {12}}});
  EXPECT_EQ(pending, "eleven twelve ");
  EXPECT_EQ(reader.text, "");
  first.then = [] {};
  Send("thirteen ", {13});
  EXPECT_EQ(reader.text, "thirteen ");
}

TEST_F(SharedWatchTest, ABatchDoesNotOvertakeEarlierFrames) {
  Reader reader(*watch);
  reader.follower.receiver = nullptr;  // busy with something older
  Send("eleven ", {11});
  reader.follower.receiver = &reader;
  Send("twelve ", {12});
  EXPECT_EQ(reader.text, "") << "the event that is pending comes first";
  EXPECT_EQ(TakePending(reader.follower), "eleven twelve ");
  Send("thirteen ", {13});
  EXPECT_EQ(reader.text, "thirteen ");
}

TEST_F(SharedWatchTest, FollowersMayJoinAndLeaveDuringABroadcast) {
  CallbackReceiver leaver;
  Reader first(*watch), second(*watch), last(*watch);
  Follower joins{.position = 11};
  first.follower.receiver = &leaver;
  leaver.then = [&] {
    watch->Leave(first.follower);
    watch->Leave(second.follower);
    watch->Join(joins);
  };
  Send("eleven ", {11});
  EXPECT_EQ(second.text, "");
  EXPECT_EQ(last.text, "eleven ");
  Send("twelve ", {12});
  EXPECT_EQ(last.text, "eleven twelve ");
  EXPECT_EQ(TakePending(joins), "twelve ");
  watch->Leave(last.follower);
  EXPECT_EQ(ended, 0);
  watch->Leave(joins);
  EXPECT_EQ(ended, 1);
}

mesh::Request WatchRequest(std::string query, std::string accept = "application/json") {
  mesh::Request request;
  request.path = "/api/v1/pods";
  request.query = std::move(query);
  request.headers.emplace_back("accept", std::move(accept));
  return request;
}

TEST(WatchQuery, IdenticalWatchesHaveTheSameIdentity) {
  const auto one = ReadWatchQuery(WatchRequest("watch=1&resourceVersion=5&labelSelector=a%3Db&timeoutSeconds=9"));
  const auto other = ReadWatchQuery(WatchRequest(
      "allowWatchBookmarks=true&watch=1&labelSelector=a%3Db&sendInitialEvents=true&resourceVersionMatch=x"));
  ASSERT_TRUE(one && other);
  EXPECT_EQ(one->identity, other->identity);
  EXPECT_FALSE(one->wants_bookmarks);
  EXPECT_TRUE(other->wants_bookmarks);
  EXPECT_EQ(one->From(7, true), "watch=1&labelSelector=a%3Db&resourceVersion=7&allowWatchBookmarks=true");
  EXPECT_NE(one->identity, ReadWatchQuery(WatchRequest("watch=1&labelSelector=a%3Dc"))->identity);
  EXPECT_NE(
      one->identity,
      ReadWatchQuery(WatchRequest("watch=1&labelSelector=a%3Db", "application/vnd.kubernetes.protobuf"))->identity);
  EXPECT_FALSE(ReadWatchQuery(WatchRequest("allowWatchBookmarks=FALSE"))->wants_bookmarks);
  EXPECT_EQ(ReadWatchQuery(WatchRequest("%72esourceVersion=5"))->From(1, false),
            "resourceVersion=1&allowWatchBookmarks=false");
}

TEST(WatchQuery, TablesAreNotShared) {
  EXPECT_FALSE(
      ReadWatchQuery(WatchRequest("watch=1", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json")));
}

}  // namespace
}  // namespace apimesh::aggregator
