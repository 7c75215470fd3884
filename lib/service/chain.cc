#include "lib/service/chain.h"

#include <atomic>

namespace apimesh::service {
namespace {

Task<> Send(rpc::Response response, rpc::ResponseStream& stream) {
  co_await stream.WriteWhole(std::move(response));
}

class EndOfChain final : public rpc::DelegateHandler {
 public:
  Task<rpc::Response> Call(rpc::Request&&) override { co_return PlainNotFound(); }
  Task<> Stream(rpc::Request, rpc::ResponseStream& stream) override { return Send(PlainNotFound(), stream); }
  Task<> Connect(rpc::Request, std::unique_ptr<rpc::ConnectStream> stream) override {
    co_await stream->Answer(PlainNotFound());
  }
  std::shared_ptr<void> Describe(std::function<void(rpc::Description)> changed) override {
    changed({});
    return nullptr;
  }
};

/// Copies bytes one way until either side has had enough.
Task<> Pump(std::shared_ptr<rpc::ByteStream> from, std::shared_ptr<rpc::ByteStream> to) {
  for (;;) {
    auto data = co_await from->Read();
    if (!data || data->empty()) break;
    if (!co_await to->Write(std::move(*data))) break;
  }
  from->Close();
  to->Close();
}

class Forwarding final : public rpc::DelegateHandler {
 public:
  explicit Forwarding(std::shared_ptr<rpc::DelegateClient> next) : next_(std::move(next)) {}

  Task<rpc::Response> Call(rpc::Request&& request) override { return next_->Call(std::move(request)); }
  Task<> Stream(rpc::Request request, rpc::ResponseStream& stream) override {
    return next_->Stream(std::move(request), stream);
  }
  Task<> Connect(rpc::Request request, std::unique_ptr<rpc::ConnectStream> stream) override {
    rpc::Connection upstream = co_await next_->Connect(std::move(request));
    if (!co_await stream->Answer(std::move(upstream.head)) || !upstream.stream) co_return;
    const std::shared_ptr<rpc::ByteStream> client = std::move(stream);
    const std::shared_ptr<rpc::ByteStream> server = std::move(upstream.stream);
    const auto executor = co_await boost::asio::this_coro::executor;
    boost::asio::co_spawn(executor, Pump(client, server), boost::asio::detached);
    co_await Pump(server, client);
  }
  std::shared_ptr<void> Describe(std::function<void(rpc::Description)> changed) override {
    changed({});
    return nullptr;
  }

 private:
  const std::shared_ptr<rpc::DelegateClient> next_;
};

}  // namespace

rpc::Response PlainNotFound() {
  rpc::Response response;
  response.code = 404;
  response.headers.emplace_back("content-type", "text/plain; charset=utf-8");
  response.headers.emplace_back("x-content-type-options", "nosniff");
  response.body.emplace_back("404 page not found\n");
  return response;
}

std::shared_ptr<rpc::DelegateHandler> NotFoundHandler() { return std::make_shared<EndOfChain>(); }

std::shared_ptr<rpc::DelegateHandler> ForwardTo(std::shared_ptr<rpc::DelegateClient> next) {
  return std::make_shared<Forwarding>(std::move(next));
}

}  // namespace apimesh::service
