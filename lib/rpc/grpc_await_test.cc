#include "lib/rpc/grpc_await.h"

#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <gtest/gtest.h>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/use_future.hpp>
#include <thread>

#include "lib/rpc/grpc_streams.h"
#include "proto/mesh/v1/delegate.grpc.pb.h"

namespace apimesh::rpc {
namespace {

using mesh::v1::Chunk;
using mesh::v1::ConnectFrame;
using mesh::v1::Delegate;
using namespace std::chrono_literals;

/// Call echoes the path, or never answers "/hang". Stream sends as many chunks as `query` says, then hangs on "/hang".
/// Connect echoes each frame.
class EchoService final : public Delegate::CallbackService {
 public:
  grpc::ServerUnaryReactor* Call(grpc::CallbackServerContext* context, const mesh::v1::Request* request,
                                 mesh::v1::Response* response) override {
    if (request->path() == "/hang") return new Hanging(*this);
    response->set_body(request->path());
    auto* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
  grpc::ServerWriteReactor<Chunk>* Stream(grpc::CallbackServerContext*, const mesh::v1::Request* request) override {
    return new Chunks(*this, std::stoi(request->query()), request->path() == "/hang");
  }
  grpc::ServerBidiReactor<ConnectFrame, ConnectFrame>* Connect(grpc::CallbackServerContext*) override {
    return new Echo;
  }
  std::atomic<int> cancelled = 0;

 private:
  struct Hanging final : grpc::ServerUnaryReactor {
    explicit Hanging(EchoService& s) : service(s) {}
    void OnCancel() override {
      ++service.cancelled;
      Finish(grpc::Status::CANCELLED);
    }
    void OnDone() override { delete this; }
    EchoService& service;
  };
  struct Chunks final : grpc::ServerWriteReactor<Chunk> {
    Chunks(EchoService& s, int n, bool h) : service(s), left(n), hang(h) { Next(); }
    void Next() {
      if (left-- > 0) {
        chunk.set_data(std::to_string(left));
        StartWrite(&chunk);
      } else if (!hang) {
        Finish(grpc::Status(grpc::StatusCode::OUT_OF_RANGE, "that was all"));
      }
    }
    void OnWriteDone(bool ok) override {
      if (ok) Next();
    }
    void OnCancel() override {
      ++service.cancelled;
      if (hang) Finish(grpc::Status::CANCELLED);
    }
    void OnDone() override { delete this; }
    EchoService& service;
    Chunk chunk;
    int left;
    bool hang;
  };
  struct Echo final : grpc::ServerBidiReactor<ConnectFrame, ConnectFrame> {
    Echo() { StartRead(&frame); }
    void OnReadDone(bool ok) override {
      if (ok) StartWrite(&frame);
      else Finish(grpc::Status::OK);
    }
    void OnWriteDone(bool ok) override {
      if (ok) StartRead(&frame);
    }
    void OnDone() override { delete this; }
    ConnectFrame frame;
  };
};

class GrpcAwaitTest : public ::testing::Test {
 protected:
  GrpcAwaitTest() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    Connect(port_);
  }
  ~GrpcAwaitTest() override { server_->Shutdown(std::chrono::system_clock::now()); }

  void Connect(int port) {
    stub_ = Delegate::NewStub(
        grpc::CreateChannel("dns:///127.0.0.1:" + std::to_string(port), grpc::InsecureChannelCredentials()));
  }
  template <class T>
  T Run(Task<T> task) {
    boost::asio::io_context io;
    auto result = boost::asio::co_spawn(io, std::move(task), boost::asio::use_future);
    io.run();
    return result.get();
  }
  auto Call(std::string path, CallOptions options = {}) {
    mesh::v1::Request request;
    request.set_path(std::move(path));
    return Unary(stub_->async(), &Delegate::Stub::async::Call, std::move(request), std::move(options));
  }
  ServerStream<Chunk> Stream(std::string path, int chunks) {
    mesh::v1::Request request;
    request.set_path(std::move(path));
    request.set_query(std::to_string(chunks));
    return ServerStream<Chunk>(stub_->async(), &Delegate::Stub::async::Stream, std::move(request), {});
  }
  void WaitForCancelled(int count) {
    for (int i = 0; i < 500 && service_.cancelled < count; ++i) std::this_thread::sleep_for(10ms);
    EXPECT_EQ(service_.cancelled, count);
  }

  EchoService service_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<Delegate::Stub> stub_;
};

TEST_F(GrpcAwaitTest, UnaryAnswers) {
  const auto answer = Run(Call("/x"));
  EXPECT_TRUE(answer.status.ok());
  EXPECT_EQ(answer.response.body(), "/x");
}

TEST_F(GrpcAwaitTest, UnaryResumesOnItsOwnExecutor) {
  auto same_thread = [](auto call) -> Task<bool> {
    const auto before = std::this_thread::get_id();
    (void)co_await std::move(call);
    co_return before == std::this_thread::get_id();
  };
  EXPECT_TRUE(Run(same_thread(Call("/x"))));
}

TEST_F(GrpcAwaitTest, DeadlineEndsTheCallOnBothSides) {
  const auto answer = Run(Call("/hang", {.deadline = std::chrono::steady_clock::now() + 50ms}));
  EXPECT_EQ(answer.status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_FALSE(NothingWasSent(answer.status));
  WaitForCancelled(1);
}

TEST_F(GrpcAwaitTest, AsioCancellationCancelsTheCall) {
  auto race = [](auto call) -> Task<bool> {
    using namespace boost::asio::experimental::awaitable_operators;
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, 50ms);
    auto winner = co_await (std::move(call) || timer.async_wait(boost::asio::use_awaitable));
    co_return winner.index() == 1;
  };
  EXPECT_TRUE(Run(race(Call("/hang"))));
  WaitForCancelled(1);
}

TEST_F(GrpcAwaitTest, ServerThatIsDownFailsAtOnceAndUnsent) {
  server_->Shutdown();
  const auto answer = Run(Call("/x", {.deadline = std::chrono::steady_clock::now() + 10s}));
  EXPECT_EQ(answer.status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_TRUE(NothingWasSent(answer.status)) << answer.status.error_message();
}

TEST_F(GrpcAwaitTest, ServerThatGoesDuringTheCallMayHaveSeenIt) {
  auto stop = std::thread([this] {
    std::this_thread::sleep_for(100ms);
    server_->Shutdown(std::chrono::system_clock::now());
  });
  const auto answer = Run(Call("/hang"));
  stop.join();
  EXPECT_FALSE(answer.status.ok());
  EXPECT_FALSE(NothingWasSent(answer.status));
}

Task<std::pair<int, grpc::Status>> ReadAll(ServerStream<Chunk> stream) {
  int count = 0;
  while (auto chunk = co_await stream.Read()) ++count;
  auto status = co_await stream.Finish();
  co_return std::pair(count, status);
}

TEST_F(GrpcAwaitTest, ServerStreamIsReadToItsEnd) {
  const auto [count, status] = Run(ReadAll(Stream("/x", 1000)));
  EXPECT_EQ(count, 1000);
  EXPECT_EQ(status.error_message(), "that was all");
}

TEST_F(GrpcAwaitTest, DestroyedStreamIsCancelled) {
  auto read_one = [](ServerStream<Chunk> stream) -> Task<std::string> { co_return (co_await stream.Read())->data(); };
  EXPECT_EQ(Run(read_one(Stream("/hang", 1))), "0");
  WaitForCancelled(1);
}

TEST_F(GrpcAwaitTest, StreamCancelledFromElsewhereEndsTheRead) {
  auto stream = Stream("/hang", 0);
  std::thread other([&] {
    std::this_thread::sleep_for(30ms);
    stream.Cancel();
  });
  auto read = [](ServerStream<Chunk>& s) -> Task<grpc::Status> {
    EXPECT_FALSE(co_await s.Read());
    co_return co_await s.Finish();
  };
  EXPECT_EQ(Run(read(stream)).error_code(), grpc::StatusCode::CANCELLED);
  other.join();
}

TEST_F(GrpcAwaitTest, BidiStreamEchoesUntilWritesAreDone) {
  auto talk = [](BidiStream<ConnectFrame, ConnectFrame> stream) -> Task<grpc::Status> {
    for (int i = 0; i < 100; ++i) {
      ConnectFrame frame;
      frame.set_data(std::to_string(i));
      EXPECT_TRUE(co_await stream.Write(frame));
      const auto echo = co_await stream.Read();
      if (!echo) break;
      EXPECT_EQ(echo->data(), std::to_string(i));
    }
    EXPECT_TRUE(co_await stream.WritesDone());
    EXPECT_FALSE(co_await stream.Read());
    EXPECT_FALSE(co_await stream.Write(ConnectFrame()));
    co_return co_await stream.Finish();
  };
  EXPECT_TRUE(Run(talk({stub_->async(), &Delegate::Stub::async::Connect, {}})).ok());
}

TEST_F(GrpcAwaitTest, DeadlineConversionKeepsTheTime) {
  const SteadyTime time = std::chrono::steady_clock::now() + 1234567891ns;
  EXPECT_EQ(FromDeadline(ToDeadline(time)), time);
  EXPECT_EQ(FromDeadline(ToDeadline(SteadyTime::max())), SteadyTime::max());
}

}  // namespace
}  // namespace apimesh::rpc
