// Responses whose bytes stay in the server's shared memory (lib/shared_memory): only their positions are sent.
#include <atomic>
#include <filesystem>
#include <future>
#include <thread>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "lib/base/async/wakeup.h"
#include "lib/mesh/delegate/delegate.h"
#include "lib/mesh/delegate/delegate_server.h"
#include "lib/mesh/test_threads.h"
#include "lib/shared_memory/segment.h"
#include "lib/testing/system_clock.h"

namespace apimesh::mesh {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kTextBytes = 5000;

std::string TextOf(int number) {
  return std::to_string(number) + std::string(kTextBytes, static_cast<char>('a' + number % 26));
}

/// Streams `pieces` strings that are kept in the segment only as long as the stream needs them, alternating with
/// strings on the heap.
class SharingHandler final : public DelegateHandler {
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
      co_await stream.WriteComplete(std::move(response));
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
    body.push_back(on_heap ? SharedBytes(TextOf(number)) : shared_memory::Share({TextOf(number)}));
    body.emplace_back(">");
  }

  int pieces = 100;
  bool on_heap = false;
  std::string asked_with;
  std::atomic<bool> handler_done = false;
};

class Reader final : public ResponseStream {
 public:
  explicit Reader(bool takes_lent) : takes_lent(takes_lent) {}

  Task<bool> WriteHead(int, Headers) override { co_return true; }
  Task<bool> Write(std::vector<SharedBytes> pieces) override {
    for (const SharedBytes& piece : pieces) {
      text += piece.View();
      if (!piece.Revocable()) continue;
      ++shared;
      last = piece;
    }
    was_valid &= StillValid(pieces);
    if (gate) co_await Wakeup::Wait(gate);
    was_valid &= StillValid(pieces);
    co_return text.size() < stop_after;
  }
  void OnCancel(std::function<void()>) override {}
  void Abort() override { aborted = true; }

  std::string text;
  int shared = 0;
  bool was_valid = true;
  bool aborted = false;
  std::size_t stop_after = ~std::size_t{0};
  std::shared_ptr<Wakeup> gate;
  SharedBytes last;  // the last piece in shared memory
  const bool takes_lent;
};

class Sharing : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!shared_memory::Segment::Own()) shared_memory::Segment::SetOwn(shared_memory::Segment::New(256 << 20));
  }
  Sharing() {
    std::string pattern = ::testing::TempDir() + "apimesh-share-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    const std::string address = "unix:" + (folder_ / "server.sock").string();
    server_ = ServeDelegate({Listener{.address = address}}, handler_, {&threads_.server}, testing::SystemClock());
    client_ = NewDelegateClient({.target = address}, threads_.client.get_executor(), testing::SystemClock());
    used_before_ = shared_memory::Segment::Own()->Used();
  }
  ~Sharing() override {
    description_.reset();
    client_.reset();
    server_.reset();
    std::filesystem::remove_all(folder_);
  }

  /// After this call, the client has mapped the server's memory.
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
    request.accepts_revocable_memory = reader.takes_lent;
    return boost::asio::co_spawn(threads_.client, client_->Stream(std::move(request), reader), boost::asio::use_future);
  }
  static std::string Expected(int pieces) {
    std::string text;
    for (int i = 0; i < pieces; ++i) text += "<" + TextOf(i) + ">";
    return text;
  }
  /// Whether the usage of the segment returns to its initial value.
  bool AllGivenBack() const {
    return testing::Eventually([this] { return shared_memory::Segment::Own()->Used() == used_before_; });
  }

  TestThreads threads_;
  std::filesystem::path folder_;
  std::shared_ptr<SharingHandler> handler_ = std::make_shared<SharingHandler>();
  std::unique_ptr<DelegateServer> server_;
  std::unique_ptr<DelegateClient> client_;
  std::shared_ptr<void> description_;
  meta::Verb verb_ = meta::Verb::kList;
  std::size_t used_before_ = 0;
};

TEST_F(Sharing, LargePiecesStayInSharedMemory) {
  Describe();
  Reader reader(true);
  Begin(reader).get();
  EXPECT_EQ(handler_->asked_with, shared_memory::Segment::Own()->Id());
  EXPECT_EQ(reader.text, Expected(100));
  EXPECT_EQ(reader.shared, 100);
  EXPECT_TRUE(reader.was_valid);
  EXPECT_FALSE(reader.aborted);
  EXPECT_TRUE(AllGivenBack());
  EXPECT_FALSE(reader.last.StillValid()) << "the lease ends with the stream";
}

TEST_F(Sharing, ACompleteResponseIsSharedToo) {
  Describe();
  Reader reader(true);
  reader.gate = Wakeup::New();
  auto streamed = Begin(reader, "/whole");
  ASSERT_TRUE(testing::Eventually([this] { return handler_->handler_done.load(); }));
  EXPECT_GT(shared_memory::Segment::Own()->Used(), used_before_ + 90 * kTextBytes);
  reader.gate->Wake();
  streamed.get();
  EXPECT_EQ(reader.text, Expected(100));
  EXPECT_EQ(reader.shared, 100);
  EXPECT_TRUE(reader.was_valid);
  EXPECT_FALSE(reader.aborted);
  EXPECT_TRUE(AllGivenBack());
}

TEST_F(Sharing, AShortResponseIsCopied) {
  Describe();
  handler_->pieces = 5;
  Reader reader(true);
  Begin(reader, "/whole").get();
  EXPECT_EQ(reader.text, Expected(5));
  EXPECT_EQ(reader.shared, 0);
  EXPECT_TRUE(AllGivenBack());
}

TEST_F(Sharing, BytesOutsideSharedMemoryAreSentInPieces) {
  Describe();
  handler_->on_heap = true;
  handler_->pieces = 1000;  // 5 MB
  Reader reader(true);
  Begin(reader, "/whole").get();
  EXPECT_EQ(reader.text, Expected(1000));
  EXPECT_EQ(reader.shared, 0);
  EXPECT_FALSE(reader.aborted);
}

TEST_F(Sharing, AReaderThatDoesNotAcceptSharedMemoryGetsCopies) {
  Describe();
  Reader reader(false);
  Begin(reader).get();
  EXPECT_EQ(handler_->asked_with, "");
  EXPECT_EQ(reader.text, Expected(100));
  EXPECT_TRUE(AllGivenBack());
}

TEST_F(Sharing, AReaderWithoutTheMappingGetsCopies) {
  Reader reader(true);
  Begin(reader).get();
  EXPECT_EQ(handler_->asked_with, "");
  EXPECT_EQ(reader.text, Expected(100));
}

TEST_F(Sharing, AWatchSharesNothing) {
  Describe();
  verb_ = meta::Verb::kWatch;
  Reader reader(true);
  Begin(reader).get();
  EXPECT_EQ(reader.text, Expected(100));
  EXPECT_EQ(reader.shared, 0);
}

TEST_F(Sharing, ASlowReaderKeepsItsLeaseAfterTheHandlerIsDone) {
  Describe();
  Reader reader(true);
  reader.gate = Wakeup::New();
  auto streamed = Begin(reader);
  ASSERT_TRUE(testing::Eventually([this] { return handler_->handler_done.load(); }));
  EXPECT_GT(shared_memory::Segment::Own()->Used(), used_before_ + 90 * kTextBytes);
  reader.gate->Wake();
  streamed.get();
  EXPECT_EQ(reader.text, Expected(100));
  EXPECT_TRUE(reader.was_valid);
  EXPECT_TRUE(AllGivenBack());
}

TEST_F(Sharing, AReaderThatStopsReleasesItsLease) {
  Describe();
  handler_->pieces = 20'000;
  Reader reader(true);
  reader.stop_after = 10 * kTextBytes;
  Begin(reader).get();
  EXPECT_LT(reader.text.size(), 50'000 * kTextBytes);
  EXPECT_TRUE(AllGivenBack());
}

TEST_F(Sharing, ALongStreamSharesAtMostItsLimit) {
  Describe();
  handler_->pieces = 5;
  Reader first(true);
  Begin(first).get();
  // 60,000 pieces of 5 KB do not fit into this segment at once: the remaining pieces are on the heap and are sent.
  handler_->pieces = 60'000;
  Reader reader(true);
  Begin(reader).get();
  EXPECT_EQ(reader.text, Expected(60'000));
  EXPECT_GT(reader.shared, 40'000);
  EXPECT_LT(reader.shared, 60'000);
  EXPECT_TRUE(AllGivenBack());
}

TEST_F(Sharing, AnAbortedResponseIsReportedAsBroken) {
  Describe();
  Reader reader(true);
  Begin(reader, "/abort").get();
  EXPECT_TRUE(reader.aborted);
  EXPECT_TRUE(AllGivenBack());
}

TEST_F(Sharing, AServerThatEndsRevokesItsLease) {
  Describe();
  Reader reader(true);
  reader.gate = Wakeup::New();
  auto streamed = Begin(reader);
  ASSERT_TRUE(testing::Eventually([this] { return handler_->handler_done.load(); }));
  // The piece is read on the thread of the stream.
  const auto valid = [&] {
    return boost::asio::post(threads_.client, boost::asio::use_future([&] { return reader.last.StillValid(); })).get();
  };
  EXPECT_TRUE(valid());
  server_.reset();
  EXPECT_TRUE(AllGivenBack());
  EXPECT_FALSE(valid()) << "what was copied until now may be something else";
  reader.gate->Wake();
  streamed.get();
  EXPECT_FALSE(reader.was_valid) << "what came before the server went could still be read, but not be sent";
}

}  // namespace
}  // namespace apimesh::mesh
