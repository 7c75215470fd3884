#include "lib/grpc/server.h"

#include <algorithm>

#include "lib/grpc/health.h"
#include "lib/http/http2/server.h"

namespace apimesh::grpc {
namespace {

using Callers = std::shared_ptr<const std::vector<Caller>>;
using CallerPtr = std::shared_ptr<const Caller>;

http::Http2Listener ToHttp2(const Listener& listener) {
  http::Http2Listener http2{listener.address, listener.ca_file, listener.cert_file, listener.key_file, {}};
  for (const Caller& caller : listener.callers) http2.client_uris.push_back(caller.identity);
  return http2;
}

/// Returns nullptr, which allows every method, only for a Unix socket.
CallerPtr FindCaller(const Callers& callers, const std::optional<std::string>& uri) {
  if (!uri) return nullptr;
  const auto found =
      std::find_if(callers->begin(), callers->end(), [&](const Caller& caller) { return caller.identity == *uri; });
  return found == callers->end() ? std::make_shared<const Caller>() : CallerPtr(callers, &*found);
}

}  // namespace

Server::Server(std::shared_ptr<Health> health, std::unique_ptr<http::Http2Server> server)
    : health_(std::move(health)), server_(std::move(server)) {}
Server::~Server() = default;
int Server::Port(std::size_t index) const { return server_->Port(index); }
void Server::SetServing(bool serving) { health_->SetServing(serving); }
void Server::Drain(std::chrono::milliseconds limit) { server_->Drain(limit); }

std::unique_ptr<Server> Serve(const std::vector<Listener>& listeners, Methods methods,
                              std::vector<boost::asio::io_context*> workers, const Clock& clock) {
  auto health = Health::AddTo(methods);
  const auto shared_methods = std::make_shared<const Methods>(std::move(methods));
  std::vector<http::Http2Listener> http2_listeners;
  std::vector<Callers> callers;
  for (const Listener& listener : listeners) {
    http2_listeners.push_back(ToHttp2(listener));
    callers.push_back(std::make_shared<const std::vector<Caller>>(listener.callers));
  }
  const auto new_streams = [callers, shared_methods, &clock](const http::Http2Client& client) -> http::StreamFactory {
    CallerPtr caller = FindCaller(callers[client.listener], client.uri);
    return [caller = std::move(caller), shared_methods, &clock](const boost::asio::any_io_executor& executor) {
      return std::make_shared<ServerCall>(executor, shared_methods, clock, caller);
    };
  };
  auto server = http::ServeStreams(http2_listeners, new_streams, http2::Limits(), std::move(workers), clock);
  return std::make_unique<Server>(std::move(health), std::move(server));
}

}  // namespace apimesh::grpc
