#include "services/aggregator/watches/shared_watch.h"

#include <boost/asio/detached.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/testing/run.h"
#include "services/aggregator/watches/watch_query.h"

namespace apimesh::aggregator {
namespace {

using State = SharedWatch::Taken::State;
using Follower = SharedWatch::Follower;

class SharedWatchTest : public ::testing::Test {
 protected:
  std::shared_ptr<SharedWatch> watch = std::make_shared<SharedWatch>(10, [this] { ++ended; });
  int ended = 0;

  struct Told {
    std::string text;
    rpc::WatchPlace place;
  };
  /// What the upstream has ready, one after the other; then all that follows from it. False: nobody follows any more.
  bool SendAll(std::vector<Told> frames) {
    bool followed = false;
    const auto write = [](SharedWatch& to, std::vector<Told> given, bool& last) -> Task<> {
      for (Told& one : given) {
        std::vector<SharedBytes> pieces(1, SharedBytes(std::move(one.text)));
        last = co_await to.WriteEvents(std::move(pieces), one.place);
      }
    };
    boost::asio::io_context context{1};
    boost::asio::co_spawn(context, write(*watch, std::move(frames), followed), boost::asio::detached);
    context.run();
    return followed;
  }
  bool Send(std::string text, rpc::WatchPlace place) {
    return SendAll(std::vector<Told>(1, Told{std::move(text), place}));
  }
  bool SendPart(std::string text) { return testing::RunTask(watch->Write(std::vector<SharedBytes>(1, SharedBytes(std::move(text))))); }
  static std::string Text(const SharedWatch::Taken& taken) {
    std::string text;
    for (const SharedBytes& frame : taken.frames) text += frame.View();
    return text;
  }
  /// Takes what is there, as a client does.
  std::string Take(Follower& follower, State expected = State::kOpen) {
    const SharedWatch::Taken taken = watch->Take(follower);
    EXPECT_EQ(taken.state, expected);
    follower.place = taken.place;
    return Text(taken);
  }
};

TEST_F(SharedWatchTest, EveryFollowerGetsWhatComesAfterItsPlace) {
  Follower a{.place = 10}, b{.place = 12}, late{.place = 9};
  ASSERT_TRUE(watch->Join(a));
  EXPECT_FALSE(watch->Join(late)) << "what happened at 10 is not here";
  Send("eleven ", {11});
  Send("twelve ", {12});
  ASSERT_TRUE(watch->Join(b));
  Send("thirteen ", {13});
  EXPECT_EQ(Take(a), "eleven twelve thirteen ");
  EXPECT_EQ(Take(b), "thirteen ");
  EXPECT_EQ(Take(a), "");
  EXPECT_EQ(a.place, 13u);
  Follower ahead{.place = 15};
  ASSERT_TRUE(watch->Join(ahead));
  Send("fourteen ", {14});
  Send("sixteen ", {16});
  EXPECT_EQ(Take(ahead), "sixteen ") << "another replica had told it more";
  EXPECT_EQ(Take(a), "fourteen sixteen ");
  watch->Leave(a);
  watch->Leave(b);
  EXPECT_EQ(ended, 0);
  watch->Leave(ahead);
  EXPECT_EQ(ended, 1) << "nobody is left";
}

TEST_F(SharedWatchTest, BookmarksMoveThePlaceOfThoseWhoDoNotWantThem) {
  Follower plain{.place = 10}, told{.place = 10, .wants_bookmarks = true};
  watch->Join(plain);
  watch->Join(told);
  Send("bookmark", {20, true});
  EXPECT_EQ(Take(plain), "");
  EXPECT_EQ(plain.place, 20u);
  EXPECT_EQ(Take(told), "bookmark");
}

TEST_F(SharedWatchTest, PartsOfARevisionComeTogether) {
  Follower follower{.place = 10};
  watch->Join(follower);
  SendPart("a");
  EXPECT_EQ(Take(follower), "");
  EXPECT_EQ(follower.place, 10u);
  Send("b", {11});
  EXPECT_EQ(Take(follower), "ab");
}

TEST_F(SharedWatchTest, OneThatCannotKeepUpGoesOnAlone) {
  Follower slow{.place = 10}, quick{.place = 10};
  watch->Join(slow);
  watch->Join(quick);
  const std::string large(700 << 10, 'x');
  for (std::uint64_t place = 11; place < 15; ++place) {
    Send(large, {place});
    EXPECT_EQ(Take(quick).size(), large.size());
  }
  EXPECT_EQ(Take(slow, State::kLost), "");
  EXPECT_EQ(slow.place, 10u) << "nothing was skipped: it goes on from here";
  Follower joins{.place = 10};
  EXPECT_FALSE(watch->Join(joins));
  joins.place = 14;
  EXPECT_TRUE(watch->Join(joins));
}

TEST_F(SharedWatchTest, AfterALostUpstreamAllGoOnAlone) {
  Follower a{.place = 10};
  watch->Join(a);
  Send("eleven", {11});
  SendPart("half of twelve");
  watch->Abort();
  watch->End();
  EXPECT_EQ(Take(a, State::kLost), "eleven");
  EXPECT_EQ(a.place, 11u);
  EXPECT_FALSE(watch->Join(a));
  EXPECT_EQ(ended, 1);
}

TEST_F(SharedWatchTest, LastWordsAreForAll) {
  Follower a{.place = 10}, b{.place = 10};
  watch->Join(a);
  watch->Join(b);
  SendPart("410");
  watch->End();
  EXPECT_EQ(Take(a, State::kFinished), "410");
  EXPECT_EQ(Take(b, State::kFinished), "410");
}

TEST_F(SharedWatchTest, NobodyThereEndsTheUpstream) {
  bool cancelled = false;
  Follower a{.place = 10};
  watch->Join(a);
  watch->OnCancel([&cancelled] { cancelled = true; });
  EXPECT_TRUE(Send("x", {11}));
  watch->Leave(a);
  EXPECT_TRUE(cancelled);
  EXPECT_FALSE(Send("x", {12}));
}

/// Takes what comes as long as it has room.
struct Reader final : SharedWatch::Receiver {
  explicit Reader(SharedWatch& watch, Follower given = {.place = 10}) : watch(watch), follower(std::move(given)) {
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

/// Does something else when it is its turn.
struct Doer final : SharedWatch::Receiver {
  std::function<void()> then;
  bool TryWrite(const http::Chunk&) override {
    then();
    return true;
  }
};

TEST_F(SharedWatchTest, WhoeverHasRoomGetsAFrameAsItComes) {
  Reader reader(*watch), full(*watch), ahead(*watch, {.place = 11}), bookmarks(*watch, {.place = 10, .wants_bookmarks = true});
  full.room = 0;
  Send("eleven ", {11});
  EXPECT_EQ(reader.text, "eleven ");
  EXPECT_EQ(reader.wire, "7\r\neleven \r\n") << "a chunk of HTTP";
  EXPECT_EQ(reader.follower.place, 11u);
  EXPECT_EQ(Take(reader.follower), "") << "nothing comes twice";
  EXPECT_EQ(ahead.text, "");
  EXPECT_EQ(full.follower.place, 10u);
  EXPECT_EQ(Take(full.follower), "eleven ") << "what it had no room for is still there";
  Send("bookmark ", {12, true});
  Send("", {13});
  full.room = 100;
  Send("fourteen ", {14});
  EXPECT_EQ(reader.text, "eleven fourteen ");
  EXPECT_EQ(ahead.text, "fourteen ");
  EXPECT_EQ(bookmarks.text, "eleven bookmark fourteen ");
  EXPECT_EQ(full.text, "fourteen ");
  EXPECT_EQ(reader.follower.place, 14u);
}

TEST_F(SharedWatchTest, WhatComesTogetherGoesOutTogether) {
  Reader reader(*watch), full(*watch), some(*watch, {.place = 11}), ahead(*watch, {.place = 20}), bookmarks(*watch, {.place = 10, .wants_bookmarks = true});
  full.room = 0;
  SendAll({{"eleven ", {11}}, {"", {12}}, {"bookmark ", {13, true}}, {"fourteen ", {14}}});
  EXPECT_EQ(reader.wire, "10\r\neleven fourteen \r\n") << "one chunk";
  EXPECT_EQ(bookmarks.wire, "19\r\neleven bookmark fourteen \r\n");
  EXPECT_EQ(reader.follower.place, 14u);
  EXPECT_EQ(Take(reader.follower), "") << "nothing comes twice";
  EXPECT_EQ(Take(bookmarks.follower), "");
  EXPECT_EQ(some.text, "") << "it knows a part of it";
  EXPECT_EQ(Take(some.follower), "fourteen ");
  EXPECT_EQ(ahead.text, "");
  EXPECT_EQ(ahead.follower.place, 20u);
  EXPECT_EQ(Take(ahead.follower), "");
  EXPECT_EQ(Take(full.follower), "eleven fourteen ") << "the same bytes as in the chunk that it had no room for";
  full.room = 100;
  Send("twenty-one ", {21});
  for (const Reader* one : {&reader, &full, &some, &ahead, &bookmarks}) {
    EXPECT_TRUE(one->text.ends_with("twenty-one ")) << one->text;
    EXPECT_EQ(one->follower.place, 21u);
  }
}

TEST_F(SharedWatchTest, OnlyBookmarksTogetherAreNothingForTheOthers) {
  Reader reader(*watch), bookmarks(*watch, {.place = 10, .wants_bookmarks = true});
  SendAll({{"one ", {11, true}}, {"two ", {12, true}}});
  EXPECT_EQ(reader.wire, "");
  EXPECT_EQ(reader.follower.place, 12u);
  EXPECT_EQ(bookmarks.text, "one two ");
}

TEST_F(SharedWatchTest, ALongRowOfEventsDoesNotWaitForItsEnd) {
  Reader reader(*watch);
  std::vector<Told> frames;
  std::string want;
  for (std::uint64_t place = 11; place < 60; ++place) {
    frames.push_back({std::string(40 << 10, static_cast<char>('a' + place % 26)), {place}});
    want += frames.back().text;
  }
  SendAll(std::move(frames));
  EXPECT_TRUE(reader.text == want) << "two megabytes: more than is kept, and nothing is lost";
  EXPECT_EQ(reader.follower.place, 59u);
  EXPECT_EQ(reader.room, 100 - 25) << "by two: 64 KB at a time";
}

TEST_F(SharedWatchTest, WhoTakesWhatIsNotToldYetIsNotHandedItAgain) {
  Doer first;
  Follower before{.place = 10, .receiver = &first};
  watch->Join(before);
  Reader reader(*watch);
  std::string taken;
  first.then = [&] { taken = Take(reader.follower); };  // woken by something else in between
  SendAll({{"eleven ", {11}}, {"twelve ", {12}}});
  EXPECT_EQ(taken, "eleven twelve ");
  EXPECT_EQ(reader.text, "");
  first.then = [] {};
  Send("thirteen ", {13});
  EXPECT_EQ(reader.text, "thirteen ");
}

TEST_F(SharedWatchTest, OneThatIsBehindIsNotHandedWhatComesLater) {
  Reader reader(*watch);
  reader.follower.receiver = nullptr;  // busy with something older
  Send("eleven ", {11});
  reader.follower.receiver = &reader;
  Send("twelve ", {12});
  EXPECT_EQ(reader.text, "") << "eleven comes first";
  EXPECT_EQ(Take(reader.follower), "eleven twelve ");
  Send("thirteen ", {13});
  EXPECT_EQ(reader.text, "thirteen ");
}

TEST_F(SharedWatchTest, FollowersMayComeAndGoWhileTheOthersAreTold) {
  Doer leaver;
  Reader first(*watch), second(*watch), last(*watch);
  Follower joins{.place = 11};
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
  EXPECT_EQ(Take(joins), "twelve ");
  watch->Leave(last.follower);
  EXPECT_EQ(ended, 0);
  watch->Leave(joins);
  EXPECT_EQ(ended, 1);
}

rpc::Request WatchRequest(std::string query, std::string accept = "application/json") {
  rpc::Request request;
  request.path = "/api/v1/pods";
  request.query = std::move(query);
  request.headers.emplace_back("accept", std::move(accept));
  return request;
}

TEST(WatchQuery, KnowsWatchesThatSeeTheSame) {
  const auto one = ReadWatchQuery(WatchRequest("watch=1&resourceVersion=5&labelSelector=a%3Db&timeoutSeconds=9"));
  const auto other = ReadWatchQuery(WatchRequest("allowWatchBookmarks=true&watch=1&labelSelector=a%3Db&sendInitialEvents=true&resourceVersionMatch=x"));
  ASSERT_TRUE(one && other);
  EXPECT_EQ(one->identity, other->identity);
  EXPECT_FALSE(one->wants_bookmarks);
  EXPECT_TRUE(other->wants_bookmarks);
  EXPECT_EQ(one->From(7, true), "watch=1&labelSelector=a%3Db&resourceVersion=7&allowWatchBookmarks=true");
  EXPECT_NE(one->identity, ReadWatchQuery(WatchRequest("watch=1&labelSelector=a%3Dc"))->identity);
  EXPECT_NE(one->identity, ReadWatchQuery(WatchRequest("watch=1&labelSelector=a%3Db", "application/vnd.kubernetes.protobuf"))->identity);
  EXPECT_FALSE(ReadWatchQuery(WatchRequest("allowWatchBookmarks=FALSE"))->wants_bookmarks);
  EXPECT_EQ(ReadWatchQuery(WatchRequest("%72esourceVersion=5"))->From(1, false), "resourceVersion=1&allowWatchBookmarks=false");
}

TEST(WatchQuery, TablesAreNotShared) {
  EXPECT_FALSE(ReadWatchQuery(WatchRequest("watch=1", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json")));
}

}  // namespace
}  // namespace apimesh::aggregator
