// Tests the client against gRPC's own server.
#include <thread>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <gtest/gtest.h>

#include "lib/base/async/wakeup.h"
#include "lib/grpc/typed_call.h"
#include "lib/testing/run.h"
#include "lib/testing/system_clock.h"
#include "proto/mesh/v1/delegate.grpc.pb.h"

namespace apimesh::grpc {
namespace {

using apimesh::testing::RunTask;
using mesh::v1::Chunk;
using mesh::v1::ConnectFrame;
using mesh::v1::Delegate;
using namespace std::chrono_literals;

constexpr const char* kCall = "/apimesh.mesh.v1.Delegate/Call";
constexpr const char* kStream = "/apimesh.mesh.v1.Delegate/Stream";
constexpr const char* kConnect = "/apimesh.mesh.v1.Delegate/Connect";

/// Call echoes the path; on "/hang" it waits until the call is cancelled, and on "/wait" for `release`. Stream sends
/// `query` chunks of `path` bytes. Connect echoes each frame.
class EchoService final : public Delegate::Service {
 public:
  ::grpc::Status Call(::grpc::ServerContext* context, const mesh::v1::Request* request,
                      mesh::v1::Response* response) override {
    ++called;
    if (request->path() == "/fail") return {::grpc::StatusCode::OUT_OF_RANGE, "100% \xe2\x82\xac"};
    if (request->path() == "/hang") testing::Eventually([&] { return context->IsCancelled(); });
    if (request->path() == "/wait") testing::Eventually([&] { return release || context->IsCancelled(); });
    if (context->IsCancelled()) ++cancelled;
    response->set_body(request->path());
    return ::grpc::Status::OK;
  }
  ::grpc::Status Stream(::grpc::ServerContext* context, const mesh::v1::Request* request,
                        ::grpc::ServerWriter<Chunk>* out) override {
    Chunk chunk;
    chunk.set_data(std::string(std::stoul(request->path()), 'x'));
    bool refused = false;  // a write may be refused shortly before the context reports the reason
    for (int i = 0; i < std::stoi(request->query()) && !refused; ++i) {
      refused = !out->Write(chunk);
      if (!refused) ++written;
    }
    if (refused || context->IsCancelled()) ++cancelled;
    return {::grpc::StatusCode::OUT_OF_RANGE, "that was all"};
  }
  ::grpc::Status Connect(::grpc::ServerContext*,
                         ::grpc::ServerReaderWriter<ConnectFrame, ConnectFrame>* both) override {
    ConnectFrame frame;
    while (both->Read(&frame)) both->Write(frame);
    return ::grpc::Status::OK;
  }
  std::atomic<int> cancelled = 0, written = 0, called = 0;
  std::atomic<bool> release = false;
};

class H2Client : public ::testing::Test {
 protected:
  H2Client() { Serve(); }
  ~H2Client() override {
    if (server_) server_->Shutdown(testing::SystemClock().Now());
  }
  void Serve() {
    ::grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:" + std::to_string(port_), ::grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    channel_ = Channel::New({.clock = testing::SystemClock(), .target = "127.0.0.1:" + std::to_string(port_)});
  }
  Task<UnaryAnswer<mesh::v1::Response>> Call(std::string path, SteadyTime deadline = SteadyTime::max()) {
    mesh::v1::Request request;
    request.set_path(std::move(path));
    return Unary<mesh::v1::Response>(channel_, kCall, request, CallOptions{.deadline = deadline});
  }
  Task<ClientCall> Stream(std::size_t bytes, int chunks) {
    mesh::v1::Request request;
    request.set_path(std::to_string(bytes));
    request.set_query(std::to_string(chunks));
    ClientCall call = co_await channel_->Open(kStream, CallOptions());
    call.Post(Pack(request));
    call.WritesDone();
    co_return call;
  }
  bool PortIsFree() const {
    boost::asio::io_context context;
    boost::asio::ip::tcp::socket socket(context);
    boost::system::error_code error;
    socket.connect({boost::asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(port_)}, error);
    return error == boost::asio::error::connection_refused;
  }
  void WaitForCancelled(int count) {
    EXPECT_TRUE(testing::Eventually([&] { return service_.cancelled == count; })) << service_.cancelled;
  }

  EchoService service_;
  int port_ = 0;
  std::unique_ptr<::grpc::Server> server_;
  std::shared_ptr<Channel> channel_;
};

TEST_F(H2Client, UnaryAnswers) {
  const auto answer = RunTask(Call(std::string(3'000'000, 'p')));
  EXPECT_TRUE(answer.status.ok()) << answer.status.message;
  EXPECT_EQ(answer.response.body().size(), 3'000'000u);
}

TEST_F(H2Client, StatusComesWithItsText) {
  const auto answer = RunTask(Call("/fail"));
  EXPECT_EQ(answer.status.code, Code::kOutOfRange);
  EXPECT_EQ(answer.status.message, "100% \xe2\x82\xac");
}

TEST_F(H2Client, DeadlineEndsTheCallOnBothSides) {
  const auto answer = RunTask(Call("/hang", testing::SystemClock().Steady() + 50ms));
  EXPECT_EQ(answer.status.code, Code::kDeadlineExceeded);
  WaitForCancelled(1);
}

Task<bool> CancelBySleeping(Task<UnaryAnswer<mesh::v1::Response>> call) {
  using namespace boost::asio::experimental::awaitable_operators;
  auto first = co_await (std::move(call) || SleepFor(50ms));
  co_return first.index() == 1;
}
TEST_F(H2Client, AsioCancellationCancelsTheCall) {
  EXPECT_TRUE(RunTask(CancelBySleeping(Call("/hang"))));
  WaitForCancelled(1);
}

TEST_F(H2Client, ServerThatIsDownFailsAtOnceAndUnsent) {
  server_->Shutdown();
  server_.reset();
  const auto before = testing::SystemClock().Steady();
  const auto answer = RunTask(Call("/x"));
  EXPECT_EQ(answer.status.code, Code::kUnavailable);
  EXPECT_TRUE(answer.status.nothing_sent);
  EXPECT_LT(testing::SystemClock().Steady() - before, 1s);
}

Task<Status> CallWhileItGoes(Task<UnaryAnswer<mesh::v1::Response>> call) {
  const auto answer = co_await std::move(call);
  co_return answer.status;
}
TEST_F(H2Client, ServerThatGoesDuringTheCallMayHaveSeenIt) {
  std::thread stop([this] {
    testing::Eventually([this] { return service_.called > 0; });
    server_->Shutdown(testing::SystemClock().Now());
  });
  const Status status = RunTask(CallWhileItGoes(Call("/hang")));
  stop.join();
  EXPECT_FALSE(status.ok());
  EXPECT_FALSE(status.nothing_sent);
}

Task<UnaryAnswer<mesh::v1::Response>> Between(std::function<void()> before, Task<UnaryAnswer<mesh::v1::Response>> call,
                                              std::function<void()> after) {
  boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, 100ms);
  co_await timer.async_wait(boost::asio::use_awaitable);
  before();
  timer.expires_after(100ms);  // lets the events that arrived meanwhile be processed
  co_await timer.async_wait(boost::asio::use_awaitable);
  auto answer = co_await std::move(call);
  after();
  co_return answer;
}
Task<std::pair<Status, Status>> Both(Task<UnaryAnswer<mesh::v1::Response>> a, Task<UnaryAnswer<mesh::v1::Response>> b) {
  using namespace boost::asio::experimental::awaitable_operators;
  const auto [first, second] = co_await (std::move(a) && std::move(b));
  co_return std::pair(first.status, second.status);
}
// A restart: the old server finishes its calls while the new one accepts new calls.
TEST_F(H2Client, ConnectionThatIsReplacedKeepsItsCalls) {
  const std::shared_ptr<Channel> channel = channel_;
  const std::unique_ptr<::grpc::Server> old = std::move(server_);
  std::thread stop;
  auto restart = [&] {
    stop = std::thread([&old] { old->Shutdown(testing::SystemClock().Now() + 10s); });
    EXPECT_TRUE(testing::Eventually([this] { return PortIsFree(); }));
    Serve();
    channel_ = channel;
  };
  auto release = [this] { service_.release = true; };
  auto slow = Call("/wait", testing::SystemClock().Steady() + 30s);
  const auto [waiting, quick] = RunTask(Both(std::move(slow), Between(restart, Call("/x"), release)));
  stop.join();
  EXPECT_TRUE(quick.ok()) << quick.message;
  EXPECT_TRUE(waiting.ok()) << waiting.message;
}

Task<std::size_t> ReadAll(Task<ClientCall> opening, Status* status) {
  ClientCall call = co_await std::move(opening);
  std::size_t bytes = 0;
  for (;;) {
    auto chunk = co_await ReadAs<Chunk>(call);
    if (!chunk) break;
    bytes += chunk->data().size();
  }
  *status = co_await call.Finish();
  co_return bytes;
}
TEST_F(H2Client, StreamIsReadToItsEnd) {
  Status status;
  EXPECT_EQ(RunTask(ReadAll(Stream(100'000, 300), &status)), 30'000'000u);
  EXPECT_EQ(status.code, Code::kOutOfRange);
  EXPECT_EQ(status.message, "that was all");
}

Task<> ReadOneAndWait(Task<ClientCall> opening) {
  ClientCall call = co_await std::move(opening);
  co_await ReadAs<Chunk>(call);
  co_await SleepFor(300ms);  // time in which a server without back-pressure writes everything
}
TEST_F(H2Client, ReaderThatWaitsHoldsTheWriterBackAndItsEndCancels) {
  RunTask(ReadOneAndWait(Stream(100'000, 1000)));
  EXPECT_LT(service_.written, 100);  // the window, the socket buffers, and little more
  WaitForCancelled(1);
}

Task<int> Echo(std::shared_ptr<Channel> channel) {
  ClientCall call = co_await channel->Open(kConnect, CallOptions());
  int echoed = 0;
  for (int i = 0; i < 100; ++i) {
    ConnectFrame frame;
    frame.set_data(std::to_string(i));
    Message message = Pack(frame);
    co_await call.Write(std::move(message));
    auto back = co_await ReadAs<ConnectFrame>(call);
    if (back && back->data() == std::to_string(i)) ++echoed;
  }
  call.WritesDone();
  auto nothing = co_await ReadAs<ConnectFrame>(call);
  EXPECT_FALSE(nothing);
  const Status status = co_await call.Finish();
  EXPECT_TRUE(status.ok());
  co_return echoed;
}
TEST_F(H2Client, MessagesGoBothWays) { EXPECT_EQ(RunTask(Echo(channel_)), 100); }

Task<int> CallOften(std::shared_ptr<Channel> channel, int count) {
  int answered = 0;
  for (int i = 0; i < count; ++i) {
    mesh::v1::Request request;
    request.set_path("/x");
    const auto answer = co_await Unary<mesh::v1::Response>(channel, kCall, request, CallOptions());
    if (answer.status.ok()) ++answered;
  }
  co_return answered;
}
TEST_F(H2Client, TakesTurnsBetweenReplicasAndDoesWithoutOne) {
  EchoService second;
  int port = 0;
  ::grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", ::grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&second);
  const auto replica = builder.BuildAndStart();
  const auto channel =
      Channel::New({.clock = testing::SystemClock(), .target = fmt::format("127.0.0.1:{},127.0.0.1:{}", port_, port)});
  // The first few calls go to the replica that is connected first.
  EXPECT_EQ(RunTask(CallOften(channel, 200)), 200);
  EXPECT_GE(service_.called, 80);
  EXPECT_GE(second.called, 80);
  replica->Shutdown(testing::SystemClock().Now());
  EXPECT_EQ(RunTask(CallOften(channel, 20)), 20);
}

TEST_F(H2Client, UnknownMethodIsUnimplemented) {
  const auto answer =
      RunTask(Unary<mesh::v1::Response>(channel_, "/nobody/Nothing", mesh::v1::Request(), CallOptions()));
  EXPECT_EQ(answer.status.code, Code::kUnimplemented);
}

}  // namespace
}  // namespace apimesh::grpc
