#include "lib/service/chain.h"

#include <atomic>

namespace apimesh::service {
namespace {

Task<> Send(mesh::Response response, mesh::ResponseStream& stream) {
  co_await stream.WriteComplete(std::move(response));
}

class EndOfChain final : public mesh::DelegateHandler {
 public:
  Task<mesh::Response> Call(mesh::Request&&) override { co_return PlainNotFound(); }
  Task<> Stream(mesh::Request, mesh::ResponseStream& stream) override { return Send(PlainNotFound(), stream); }
  Task<> Connect(mesh::Request, std::unique_ptr<mesh::ConnectStream> stream) override {
    co_await stream->Answer(PlainNotFound());
  }
  std::shared_ptr<void> Describe(std::function<void(mesh::Description)> changed) override {
    changed({});
    return nullptr;
  }
};

/// Copies bytes in one direction until either side ends.
Task<> Pump(std::shared_ptr<mesh::ByteStream> from, std::shared_ptr<mesh::ByteStream> to) {
  for (;;) {
    auto data = co_await from->Read();
    if (!data || data->empty()) break;
    if (!co_await to->Write(std::move(*data))) break;
  }
  from->Close();
  to->Close();
}

class Forwarding final : public mesh::DelegateHandler {
 public:
  explicit Forwarding(std::shared_ptr<mesh::DelegateClient> next) : next_(std::move(next)) {}

  Task<mesh::Response> Call(mesh::Request&& request) override { return next_->Call(std::move(request)); }
  Task<> Stream(mesh::Request request, mesh::ResponseStream& stream) override {
    return next_->Stream(std::move(request), stream);
  }
  Task<> Connect(mesh::Request request, std::unique_ptr<mesh::ConnectStream> stream) override {
    mesh::Connection upstream = co_await next_->Connect(std::move(request));
    if (!co_await stream->Answer(std::move(upstream.head)) || !upstream.stream) co_return;
    const std::shared_ptr<mesh::ByteStream> client = std::move(stream);
    const std::shared_ptr<mesh::ByteStream> server = std::move(upstream.stream);
    const auto executor = co_await boost::asio::this_coro::executor;
    boost::asio::co_spawn(executor, Pump(client, server), boost::asio::detached);
    co_await Pump(server, client);
  }
  std::shared_ptr<void> Describe(std::function<void(mesh::Description)> changed) override {
    changed({});
    return nullptr;
  }

 private:
  const std::shared_ptr<mesh::DelegateClient> next_;
};

}  // namespace

mesh::Response PlainNotFound() {
  mesh::Response response;
  response.code = 404;
  response.headers.emplace_back("content-type", "text/plain; charset=utf-8");
  response.headers.emplace_back("x-content-type-options", "nosniff");
  response.body.emplace_back("404 page not found\n");
  return response;
}

std::shared_ptr<mesh::DelegateHandler> NotFoundHandler() { return std::make_shared<EndOfChain>(); }

std::shared_ptr<mesh::DelegateHandler> ForwardTo(std::shared_ptr<mesh::DelegateClient> next) {
  return std::make_shared<Forwarding>(std::move(next));
}

}  // namespace apimesh::service
