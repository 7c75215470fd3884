// Answers whose bytes stay in the server's memory (lib/segment): what travels is where they are.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>

#include <atomic>
#include <filesystem>
#include <future>
#include <thread>

#include "lib/base/wakeup.h"
#include "lib/rpc/delegate.h"
#include "lib/rpc/delegate_server.h"
#include "lib/rpc/test_threads.h"
#include "lib/segment/segment.h"

namespace apimesh::rpc {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kTextBytes = 5000;

std::string TextOf(int number) { return std::to_string(number) + std::string(kTextBytes, static_cast<char>('a' + number % 26)); }

/// Streams `pieces` texts that live in the segment only as long as the stream needs them, each between two on the heap.
class Lender final : public DelegateHandler {
 public:
  Task<Response> Call(Request&&) override { co_return Response(); }
  Task<> Connect(Request, std::unique_ptr<ConnectStream>) override { co_return; }
  std::shared_ptr<void> Describe(std::function<void(Description)> changed) override {
    changed(Description());
    return std::make_shared<int>(0);
  }
  Task<> Stream(Request request, ResponseStream& stream) override {
    asked_with = request.Header(kMemoryHeader);
    if (request.path == "/whole") {
      Response response;
      for (int i = 0; i < pieces; ++i) Append(response.body, i);
      co_await stream.WriteWhole(std::move(response));
      handler_done = true;
      co_return;
    }
    const bool wanted = co_await stream.WriteHead(200, Headers());
    for (int i = 0; wanted && i < pieces; ++i) {
      std::vector<SharedBytes> some;
      Append(some, i);
      const bool more = co_await stream.Write(std::move(some));
      if (!more) break;
    }
    if (request.path == "/abort") stream.Abort();
    handler_done = true;
  }

  void Append(std::vector<SharedBytes>& body, int number) const {
    body.emplace_back("<");
    body.push_back(on_heap ? SharedBytes(TextOf(number)) : segment::Share({TextOf(number)}));
    body.emplace_back(">");
  }

  int pieces = 100;
  bool on_heap = false;
  std::string asked_with;
  std::atomic<bool> handler_done = false;
};

class Reader final : public ResponseStream {
 public:
  explicit Reader(bool takes_lent) : takes_lent_(takes_lent) {}

  Task<bool> WriteHead(int, Headers) override { co_return true; }
  Task<bool> Write(std::vector<SharedBytes> pieces) override {
    for (const SharedBytes& piece : pieces) {
      text += piece.View();
      // The first piece is one that travels, so what travels too has the same owner.
      if (piece.Owner() != pieces.front().Owner()) ++lent;
    }
    if (intact) was_intact &= intact();
    if (gate) co_await Wakeup::Wait(gate);
    if (intact) was_intact &= intact();
    co_return text.size() < stop_after;
  }
  bool Guard(std::function<bool()> given) override {
    intact = std::move(given);
    return takes_lent_;
  }
  void OnCancel(std::function<void()>) override {}
  void Abort() override { aborted = true; }

  std::string text;
  int lent = 0;
  bool was_intact = true;
  bool aborted = false;
  std::size_t stop_after = ~std::size_t{0};
  std::shared_ptr<Wakeup> gate;
  std::function<bool()> intact;

 private:
  const bool takes_lent_;
};

class Lending : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!segment::Segment::Own()) segment::Segment::SetOwn(segment::Segment::New(256 << 20));
  }
  Lending() {
    std::string pattern = ::testing::TempDir() + "apimesh-lend-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    const std::string address = "unix:" + (folder_ / "lender.sock").string();
    server_ = ServeDelegate({Listener{.address = address}}, lender_, {&threads_.server});
    client_ = NewDelegateClient({.target = address}, threads_.client.get_executor());
    used_before_ = segment::Segment::Own()->Used();
  }
  ~Lending() override {
    description_.reset();
    client_.reset();
    server_.reset();
    std::filesystem::remove_all(folder_);
  }

  /// After this the client knows the server's memory.
  void Describe() {
    std::promise<void> described;
    description_ = client_->Describe([&described, first = true](std::optional<Description> description) mutable {
      if (description && std::exchange(first, false)) described.set_value();
    });
    described.get_future().get();
  }
  std::future<void> Begin(Reader& reader, std::string path = "/list") {
    Request request;
    request.path = std::move(path);
    request.info.verb = verb_;
    return boost::asio::co_spawn(threads_.client, client_->Stream(std::move(request), reader), boost::asio::use_future);
  }
  static std::string Expected(int pieces) {
    std::string text;
    for (int i = 0; i < pieces; ++i) text += "<" + TextOf(i) + ">";
    return text;
  }
  /// Whether the segment comes back to what it held before.
  bool AllGivenBack() const {
    for (int i = 0; i < 500; ++i) {
      if (segment::Segment::Own()->Used() == used_before_) return true;
      std::this_thread::sleep_for(10ms);
    }
    return false;
  }

  TestThreads threads_;
  std::filesystem::path folder_;
  std::shared_ptr<Lender> lender_ = std::make_shared<Lender>();
  std::unique_ptr<DelegateServer> server_;
  std::unique_ptr<DelegateClient> client_;
  std::shared_ptr<void> description_;
  std::string verb_ = "list";
  std::size_t used_before_ = 0;
};

TEST_F(Lending, TextsStayWhereTheyAre) {
  Describe();
  Reader reader(true);
  Begin(reader).get();
  EXPECT_EQ(lender_->asked_with, segment::Segment::Own()->Id());
  EXPECT_EQ(reader.text, Expected(100));
  EXPECT_EQ(reader.lent, 100);
  EXPECT_TRUE(reader.was_intact);
  EXPECT_FALSE(reader.aborted);
  EXPECT_FALSE(reader.intact) << "the guard ends with the stream";
  EXPECT_TRUE(AllGivenBack());
}

TEST_F(Lending, AnAnswerThatComesAtOnceIsLentToo) {
  Describe();
  Reader reader(true);
  reader.gate = Wakeup::New();
  auto streamed = Begin(reader, "/whole");
  while (!lender_->handler_done) std::this_thread::sleep_for(1ms);
  EXPECT_GT(segment::Segment::Own()->Used(), used_before_ + 90 * kTextBytes);
  reader.gate->Wake();
  streamed.get();
  EXPECT_EQ(reader.text, Expected(100));
  EXPECT_EQ(reader.lent, 100);
  EXPECT_TRUE(reader.was_intact);
  EXPECT_FALSE(reader.aborted);
  EXPECT_TRUE(AllGivenBack());
}

TEST_F(Lending, AShortAnswerTravels) {
  Describe();
  lender_->pieces = 5;
  Reader reader(true);
  Begin(reader, "/whole").get();
  EXPECT_EQ(reader.text, Expected(5));
  EXPECT_EQ(reader.lent, 0);
  EXPECT_TRUE(AllGivenBack());
}

TEST_F(Lending, WhatCannotBeLentTravelsInPiecesHoweverLong) {
  Describe();
  lender_->on_heap = true;
  lender_->pieces = 1000;  // 5 MB
  Reader reader(true);
  Begin(reader, "/whole").get();
  EXPECT_EQ(reader.text, Expected(1000));
  EXPECT_EQ(reader.lent, 0);
  EXPECT_FALSE(reader.aborted);
}

TEST_F(Lending, WhoTakesNothingLentGetsCopies) {
  Describe();
  Reader reader(false);
  Begin(reader).get();
  EXPECT_EQ(lender_->asked_with, "");
  EXPECT_EQ(reader.text, Expected(100));
  EXPECT_TRUE(AllGivenBack());
}

TEST_F(Lending, WhoHasNotMappedItGetsCopies) {
  Reader reader(true);
  Begin(reader).get();
  EXPECT_EQ(lender_->asked_with, "");
  EXPECT_EQ(reader.text, Expected(100));
}

TEST_F(Lending, AWatchIsNeverLentAnything) {
  Describe();
  verb_ = "watch";
  Reader reader(true);
  Begin(reader).get();
  EXPECT_EQ(reader.text, Expected(100));
  EXPECT_EQ(reader.lent, 0);
}

TEST_F(Lending, ASlowReaderKeepsItsLeaseAfterTheHandlerIsDone) {
  Describe();
  Reader reader(true);
  reader.gate = Wakeup::New();
  auto streamed = Begin(reader);
  while (!lender_->handler_done) std::this_thread::sleep_for(1ms);
  EXPECT_GT(segment::Segment::Own()->Used(), used_before_ + 90 * kTextBytes);
  reader.gate->Wake();
  streamed.get();
  EXPECT_EQ(reader.text, Expected(100));
  EXPECT_TRUE(reader.was_intact);
  EXPECT_TRUE(AllGivenBack());
}

TEST_F(Lending, AReaderThatStopsGivesEverythingBack) {
  Describe();
  lender_->pieces = 20'000;
  Reader reader(true);
  reader.stop_after = 10 * kTextBytes;
  Begin(reader).get();
  EXPECT_LT(reader.text.size(), 50'000 * kTextBytes);
  EXPECT_TRUE(AllGivenBack());
}

TEST_F(Lending, ALongStreamIsLentNoMoreThanItsShare) {
  Describe();
  lender_->pieces = 5;
  Reader first(true);
  Begin(first).get();
  // 64 Ki pieces of 5 KB do not fit into this segment at once: what is beyond its room is on the heap, and travels.
  lender_->pieces = 60'000;
  Reader reader(true);
  Begin(reader).get();
  EXPECT_EQ(reader.text, Expected(60'000));
  EXPECT_GT(reader.lent, 40'000);
  EXPECT_LT(reader.lent, 60'000);
  EXPECT_TRUE(AllGivenBack());
}

TEST_F(Lending, AnAbortedAnswerIsSeenAsBroken) {
  Describe();
  Reader reader(true);
  Begin(reader, "/abort").get();
  EXPECT_TRUE(reader.aborted);
  EXPECT_TRUE(AllGivenBack());
}

TEST_F(Lending, AServerThatGoesTakesItsLeaseBack) {
  Describe();
  Reader reader(true);
  reader.gate = Wakeup::New();
  auto streamed = Begin(reader);
  while (!lender_->handler_done) std::this_thread::sleep_for(1ms);
  // Asked on the stream's own thread, as a connection does.
  const auto intact = [&] {
    return boost::asio::post(threads_.client, boost::asio::use_future([&] { return reader.intact(); })).get();
  };
  EXPECT_TRUE(intact());
  server_.reset();
  EXPECT_TRUE(AllGivenBack());
  EXPECT_FALSE(intact()) << "what was copied until now may be something else";
  reader.gate->Wake();
  streamed.get();
  EXPECT_FALSE(reader.was_intact) << "what came before the server went could still be read, but not be sent";
}

}  // namespace
}  // namespace apimesh::rpc
