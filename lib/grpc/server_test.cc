// Tests the server against gRPC's own client.
#include "lib/grpc/server.h"

#include <filesystem>
#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/base/async/wakeup.h"
#include "lib/grpc/channel.h"
#include "lib/grpc/typed_call.h"
#include "lib/testing/run.h"
#include "lib/testing/system_clock.h"
#include "proto/mesh/v1/delegate.grpc.pb.h"

namespace apimesh::grpc {
namespace {

using mesh::v1::Chunk;
using mesh::v1::ConnectFrame;
using mesh::v1::Delegate;
using namespace std::chrono_literals;

Task<mesh::v1::Response> Call(mesh::v1::Request request, std::atomic<int>* called) {
  ++*called;
  if (request.path() == "/throw") throw std::runtime_error("broken");
  if (request.path() == "/sleep") co_await SleepFor(100ms);
  mesh::v1::Response response;
  response.set_body(request.path());
  co_return response;
}

Task<> Chunks(ServerCallPtr call, std::atomic<int>* cancelled, std::atomic<int>* written) {
  call->OnCancel([cancelled] { ++*cancelled; });
  const auto bytes = co_await call->Read();
  mesh::v1::Request request;
  request.ParseFromString(bytes.value_or(""));
  Chunk chunk;
  chunk.set_data(std::string(100'000, 'y'));
  for (int i = 0; i < std::stoi(request.query()); ++i) {
    Message message = Pack(chunk);
    if (!co_await call->Write(std::move(message))) co_return;
    ++*written;
  }
  Status status{Code::kAborted, "50% done"};
  call->Finish(status);
}

Task<> Echo(ServerCallPtr call) {
  for (;;) {
    auto bytes = co_await call->Read();
    if (!bytes) break;
    Message message;
    message.emplace_back(std::move(*bytes));
    co_await call->Write(std::move(message));
  }
  Status ok;
  call->Finish(ok);
}

class H2Server : public ::testing::Test {
 protected:
  H2Server() : work_(io_.get_executor()), thread_([this] { io_.run(); }) {
    std::string pattern = ::testing::TempDir() + "apimesh-h2-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    address_ = "unix:" + (folder_ / "s" / "h2.sock").string();
    Methods methods;
    const auto call = [this](mesh::v1::Request request) { return Call(std::move(request), &called_); };
    methods.AddUnary("/apimesh.mesh.v1.Delegate/Call", Typed<mesh::v1::Request, mesh::v1::Response>(call));
    methods.AddStream("/apimesh.mesh.v1.Delegate/Stream",
                      [this](ServerCallPtr call) { return Chunks(std::move(call), &cancelled_, &written_); });
    methods.AddStream("/apimesh.mesh.v1.Delegate/Connect", [](ServerCallPtr call) { return Echo(std::move(call)); });
    server_ = Serve({{.address = address_}}, std::move(methods), {&io_}, testing::SystemClock());
    grpc_channel_ = ::grpc::CreateChannel(address_, ::grpc::InsecureChannelCredentials());
    stub_ = Delegate::NewStub(grpc_channel_);
  }
  ~H2Server() override {
    server_.reset();
    work_.reset();
    io_.stop();
    thread_.join();
    std::filesystem::remove_all(folder_);
  }

  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::thread thread_;
  std::filesystem::path folder_;
  std::string address_;
  std::atomic<int> called_ = 0, cancelled_ = 0, written_ = 0;
  std::unique_ptr<Server> server_;
  std::shared_ptr<::grpc::Channel> grpc_channel_;
  std::unique_ptr<Delegate::Stub> stub_;
};

TEST_F(H2Server, AnswersGrpcsOwnClient) {
  for (const std::string& path : {std::string("/x"), std::string(2'000'000, 'p')}) {
    ::grpc::ClientContext context;
    mesh::v1::Request request;
    request.set_path(path);
    mesh::v1::Response response;
    EXPECT_TRUE(stub_->Call(&context, request, &response).ok());
    EXPECT_EQ(response.body(), path);
  }
}

TEST_F(H2Server, ExceptionIsInternal) {
  ::grpc::ClientContext context;
  mesh::v1::Request request;
  request.set_path("/throw");
  mesh::v1::Response response;
  EXPECT_EQ(stub_->Call(&context, request, &response).error_code(), ::grpc::StatusCode::INTERNAL);
}

TEST_F(H2Server, StreamsWithAStatusAtTheEnd) {
  ::grpc::ClientContext context;
  mesh::v1::Request request;
  request.set_query("200");
  auto reader = stub_->Stream(&context, request);
  Chunk chunk;
  std::size_t bytes = 0;
  while (reader->Read(&chunk)) bytes += chunk.data().size();
  EXPECT_EQ(bytes, 20'000'000u);
  const ::grpc::Status status = reader->Finish();
  EXPECT_EQ(status.error_code(), ::grpc::StatusCode::ABORTED);
  EXPECT_EQ(status.error_message(), "50% done");
}

TEST_F(H2Server, SlowReaderHoldsItBackAndLeavingCancels) {
  {
    ::grpc::ClientContext context;
    mesh::v1::Request request;
    request.set_query("2000");
    auto reader = stub_->Stream(&context, request);
    Chunk chunk;
    EXPECT_TRUE(reader->Read(&chunk));
    std::this_thread::sleep_for(300ms);  // time in which a server without back-pressure writes everything
    EXPECT_LT(written_, 200);
    context.TryCancel();
    reader->Finish();
  }
  EXPECT_TRUE(testing::Eventually([this] { return cancelled_ == 1; }));
}

TEST_F(H2Server, MessagesGoBothWays) {
  ::grpc::ClientContext context;
  auto both = stub_->Connect(&context);
  ConnectFrame frame, back;
  for (int i = 0; i < 50; ++i) {
    frame.set_data(std::string(i * 1000, 'z'));
    ASSERT_TRUE(both->Write(frame));
    ASSERT_TRUE(both->Read(&back));
    ASSERT_EQ(back.data(), frame.data());
  }
  both->WritesDone();
  EXPECT_FALSE(both->Read(&back));
  EXPECT_TRUE(both->Finish().ok());
}

/// A reader that has received everything it needs cancels its call. Every list that is read from shared memory ends
/// like this, up to a thousand times per second.
Task<int> CancelledCalls(std::shared_ptr<Channel> channel, int count) {
  int answered = 0;
  for (int i = 0; i < count; ++i) {
    ClientCall call = co_await channel->Open("/apimesh.mesh.v1.Delegate/Connect", CallOptions());
    Message message;
    message.emplace_back(std::string("x"));
    co_await call.Write(std::move(message));
    const auto answer = co_await call.Read();
    if (answer) ++answered;
  }
  co_return answered;
}

TEST_F(H2Server, CancelledCallsTakeNoOtherWithThem) {
  const auto channel = Channel::New({.clock = testing::SystemClock(), .target = address_});
  EXPECT_EQ(testing::RunTask(CancelledCalls(channel, 3000)), 3000);
}

TEST_F(H2Server, UnknownMethodIsUnimplemented) {
  ::grpc::ClientContext context;
  auto reader = stub_->Describe(&context, mesh::v1::DescribeRequest());
  mesh::v1::Description description;
  EXPECT_FALSE(reader->Read(&description));
  EXPECT_EQ(reader->Finish().error_code(), ::grpc::StatusCode::UNIMPLEMENTED);
}

TEST_F(H2Server, DrainLetsCallsFinish) {
  std::thread caller([this] {
    ::grpc::ClientContext context;
    mesh::v1::Request request;
    request.set_path("/sleep");
    mesh::v1::Response response;
    EXPECT_TRUE(stub_->Call(&context, request, &response).ok());
  });
  EXPECT_TRUE(testing::Eventually([this] { return called_ == 1; }));
  server_->Drain(5s);
  caller.join();
}

/// The server continues after any input on the socket.
TEST_F(H2Server, NonsenseEndsTheConnectionOnly) {
  const std::string preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  const std::string settings(std::string("\0\0\0\4\0\0\0\0\0", 9));
  std::vector<std::string> inputs{"",
                                  "GET / HTTP/1.1\r\n\r\n",
                                  preface,
                                  preface + std::string(100, '\xff'),
                                  preface + settings + std::string("\0\0\1\0\0\0\0\0\1x", 10),
                                  preface + settings + std::string("\xff\xff\xff\1\4\0\0\0\1", 9)};
  for (int seed = 0; seed < 200; ++seed) {
    std::string random = preface + settings;
    for (int i = 0; i < 60; ++i) random.push_back(static_cast<char>((seed * 7919 + i * 104729) >> 3));
    inputs.push_back(random);
  }
  for (const std::string& input : inputs) {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::strcpy(name.sun_path, address_.c_str() + 5);
    ASSERT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&name), sizeof(name)), 0);
    (void)!::write(fd, input.data(), input.size());
    ::close(fd);
  }
  ::grpc::ClientContext context;
  mesh::v1::Request request;
  mesh::v1::Response response;
  EXPECT_TRUE(stub_->Call(&context, request, &response).ok());
}

}  // namespace
}  // namespace apimesh::grpc
