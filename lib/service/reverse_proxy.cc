#include "lib/service/reverse_proxy.h"

#include <algorithm>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <fmt/format.h>

#include "lib/base/async/wakeup.h"
#include "lib/base/text/text.h"
#include "lib/base/text/trim.h"

namespace apimesh::service {
namespace {

constexpr std::string_view kOneConnection[] = {
    "keep-alive",         "proxy-connection",   "te", "trailer", "transfer-encoding", "content-length",
    "proxy-authenticate", "proxy-authorization"};
// Headers that name a user, or are set by a proxy that the mesh trusts.
constexpr std::string_view kIdentityPrefixes[] = {"x-remote-", "impersonate-", "x-envoy-", "x-apimesh-"};
constexpr std::string_view kIdentityNames[] = {"authorization", "x-forwarded-client-cert"};
constexpr std::string_view kHostPolicies[] = {"access-control-allow-credentials", "access-control-allow-headers",
                                              "access-control-allow-methods", "access-control-allow-origin",
                                              "strict-transport-security"};

template <std::size_t N>
bool IsOneOf(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

bool IsOfOneConnection(std::string_view name) { return IsOneOf(kOneConnection, name); }

bool NamesAnIdentity(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  for (const std::string_view prefix : kIdentityPrefixes) {
    if (name.starts_with(prefix)) return true;
  }
  return IsOneOf(kIdentityNames, name);
}

/// The names listed by the Connection headers, in lower case; these headers are hop-by-hop as well.
std::vector<std::string> ListedByConnection(const http::Headers& headers) {
  std::vector<std::string> names;
  for (const auto& [name, value] : headers) {
    if (name != "connection") continue;
    for (const std::string_view word : Split(value, ',')) {
      if (std::string listed = LowerCase(TrimSpace(word)); !listed.empty()) names.push_back(std::move(listed));
    }
  }
  return names;
}

/// The state of a response while it is streamed.
struct Passing {
  mesh::ResponseStream* stream;
  bool begun = false;
  bool gone = false;  // the reader is gone
};

Task<bool> PassHead(Passing* passing, int code, http::Headers headers) {
  CleanAnswer(headers, false);
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

class RawBytes final : public mesh::ByteStream {
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

Task<> Pump(mesh::ByteStream& from, mesh::ByteStream& to) {
  for (;;) {
    meta::Result<std::string> data = co_await from.Read();
    if (!data || data->empty()) break;
    const bool open = co_await to.Write(std::move(*data));
    if (!open) break;
  }
  to.Close();
}

}  // namespace

http::Headers PassedOn(const mesh::Headers& headers, bool upgrade) {
  const std::vector<std::string> listed = ListedByConnection(headers);
  http::Headers passed;
  for (const auto& header : headers) {
    const std::string& name = header.first;
    if (IsOfOneConnection(name) || name == "host" || name == "expect" || NamesAnIdentity(name)) continue;
    if (name == "connection" || name == "upgrade") {
      if (upgrade) passed.push_back(header);
      continue;
    }
    if (std::find(listed.begin(), listed.end(), name) == listed.end()) passed.push_back(header);
  }
  return passed;
}

void CleanAnswer(http::Headers& headers, bool upgrade) {
  const std::vector<std::string> listed = ListedByConnection(headers);
  std::erase_if(headers, [&listed, upgrade](const auto& header) {
    const std::string& name = header.first;
    if (name == "connection" || name == "upgrade") return !upgrade;
    return IsOfOneConnection(name) || IsOneOf(kHostPolicies, name) || name.starts_with("x-apimesh-") ||
           std::find(listed.begin(), listed.end(), name) != listed.end();
  });
}

bool IsRedirect(int code, const http::Headers& headers) {
  const auto is_location = [](const auto& header) { return header.first == "location" && !header.second.empty(); };
  return code >= 300 && code <= 399 && std::any_of(headers.begin(), headers.end(), is_location);
}

Task<http::ClientResult<>> StreamTo(std::shared_ptr<http::Client> client, Outgoing request,
                                    mesh::ResponseStream& stream) {
  using namespace boost::asio::experimental::awaitable_operators;
  const auto gone = Wakeup::New();
  stream.OnCancel([gone] { gone->Wake(); });
  Passing passing{&stream};
  const std::function<Task<bool>(int, http::Headers)> head = [&passing](int code, http::Headers headers) {
    return PassHead(&passing, code, std::move(headers));
  };
  const http::Client::PieceFn piece = [&passing](std::string data) { return PassPiece(&passing, std::move(data)); };
  auto answer = client->Stream(std::move(request.method), std::move(request.url), std::move(request.headers),
                               std::move(request.body), head, piece, request.deadline);
  const auto ended = co_await (std::move(answer) || Wakeup::Wait(gone));
  if (ended.index() == 1) co_return http::ClientResult<>();
  const http::ClientResult<http::ClientResponse>& result = std::get<0>(ended);
  if (result || passing.gone) co_return http::ClientResult<>();
  if (!passing.begun) co_return result.error();
  stream.Abort();
  co_return http::ClientResult<>();
}

Task<http::ClientResult<mesh::Connection>> ConnectTo(std::shared_ptr<http::Client> client, Outgoing request) {
  auto upgraded = co_await client->Upgrade(std::move(request.method), std::move(request.url),
                                           std::move(request.headers), request.deadline);
  using Code = http::ClientError::Code;
  http::ClientError error;
  if (!upgraded) {
    error = {upgraded.error().code, "error dialing backend: " + upgraded.error().message};
    co_return error;
  }
  const int code = upgraded->response.code;
  if (code != 101 && code < 400) {
    error = {Code::kUpgradeRefused, fmt::format("invalid upgrade response: status code {}", code)};
    co_return error;
  }
  mesh::Connection connection;
  connection.head.code = code;
  CleanAnswer(upgraded->response.headers, code == 101);
  connection.head.headers = std::move(upgraded->response.headers);
  if (!upgraded->response.body.empty()) connection.head.body.emplace_back(std::move(upgraded->response.body));
  if (upgraded->connection) connection.stream = std::make_unique<RawBytes>(std::move(upgraded->connection));
  co_return connection;
}

Task<> Tunnel(mesh::ByteStream& one, mesh::ByteStream& other) {
  using namespace boost::asio::experimental::awaitable_operators;
  co_await (Pump(one, other) && Pump(other, one));
}

}  // namespace apimesh::service
