#include "lib/service/reverse_proxy.h"

#include <boost/asio/experimental/awaitable_operators.hpp>

#include <algorithm>

#include "lib/base/wakeup.h"

namespace apimesh::service {
namespace {

constexpr std::string_view kOneConnection[] = {"keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding",
                                               "content-length", "proxy-authenticate", "proxy-authorization"};

bool IsOfOneConnection(std::string_view name) {
  return std::find(std::begin(kOneConnection), std::end(kOneConnection), name) != std::end(kOneConnection);
}

/// What is known of an answer while it streams.
struct Passing {
  rpc::ResponseStream* stream;
  bool begun = false;
  bool gone = false;  // the reader
};

Task<bool> PassHead(Passing* passing, int code, http::Headers headers) {
  std::erase_if(headers, [](const auto& header) { return header.first == "connection" || IsOfOneConnection(header.first); });
  passing->begun = true;
  const bool open = co_await passing->stream->WriteHead(code, std::move(headers));
  passing->gone = !open;
  co_return open;
}

Task<bool> PassPiece(Passing* passing, std::string piece) {
  std::vector<SharedBytes> pieces;
  pieces.emplace_back(std::move(piece));
  const bool open = co_await passing->stream->Write(std::move(pieces));
  passing->gone = !open;
  co_return open;
}

class RawBytes final : public rpc::ByteStream {
 public:
  explicit RawBytes(std::unique_ptr<http::RawConnection> connection) : connection_(std::move(connection)) {}
  Task<meta::Result<std::string>> Read() override {
    std::string data = co_await connection_->Read();
    co_return data;
  }
  Task<bool> Write(std::string data) override { return connection_->Write(std::move(data)); }
  void Close() override { connection_->Close(); }

 private:
  std::unique_ptr<http::RawConnection> connection_;
};

Task<> Pump(rpc::ByteStream& from, rpc::ByteStream& to) {
  for (;;) {
    meta::Result<std::string> data = co_await from.Read();
    if (!data || data->empty()) break;
    const bool open = co_await to.Write(std::move(*data));
    if (!open) break;
  }
  to.Close();
}

}  // namespace

http::Headers PassedOn(const rpc::Headers& headers, bool upgrade) {
  http::Headers passed;
  for (const auto& header : headers) {
    const std::string& name = header.first;
    if (IsOfOneConnection(name) || name == "host" || name == "authorization" || name == "expect") continue;
    if (name.starts_with("impersonate-")) continue;
    if (!upgrade && (name == "connection" || name == "upgrade")) continue;
    passed.push_back(header);
  }
  return passed;
}

Task<http::ClientResult<>> StreamTo(std::shared_ptr<http::Client> client, Outgoing request, rpc::ResponseStream& stream) {
  using namespace boost::asio::experimental::awaitable_operators;
  const auto gone = Wakeup::New();
  stream.OnCancel([gone] { gone->Wake(); });
  Passing passing{&stream};
  const std::function<Task<bool>(int, http::Headers)> head = [&passing](int code, http::Headers headers) {
    return PassHead(&passing, code, std::move(headers));
  };
  const http::Client::PieceFn piece = [&passing](std::string data) { return PassPiece(&passing, std::move(data)); };
  auto answer = client->Stream(std::move(request.method), std::move(request.url), std::move(request.headers), std::move(request.body), head,
                               piece, request.deadline);
  const auto ended = co_await (std::move(answer) || Wakeup::Wait(gone));
  if (ended.index() == 1) co_return http::ClientResult<>();
  const http::ClientResult<http::ClientResponse>& result = std::get<0>(ended);
  if (result || passing.gone) co_return http::ClientResult<>();
  if (!passing.begun) co_return result.error();
  stream.Abort();
  co_return http::ClientResult<>();
}

Task<http::ClientResult<rpc::Connection>> ConnectTo(std::shared_ptr<http::Client> client, Outgoing request) {
  auto upgraded = co_await client->Upgrade(std::move(request.method), std::move(request.url), std::move(request.headers), request.deadline);
  if (!upgraded) co_return upgraded.error();
  rpc::Connection connection;
  connection.head.code = upgraded->response.code;
  for (auto& header : upgraded->response.headers) {
    if (!IsOfOneConnection(header.first)) connection.head.headers.push_back(std::move(header));
  }
  if (!upgraded->response.body.empty()) connection.head.body.emplace_back(std::move(upgraded->response.body));
  if (upgraded->connection) connection.stream = std::make_unique<RawBytes>(std::move(upgraded->connection));
  co_return connection;
}

Task<> Tunnel(rpc::ByteStream& one, rpc::ByteStream& other) {
  using namespace boost::asio::experimental::awaitable_operators;
  co_await (Pump(one, other) && Pump(other, one));
}

}  // namespace apimesh::service
