#include "services/core-api/connect/websocket/port_forward.h"

#include <algorithm>

#include <boost/asio/experimental/awaitable_operators.hpp>

#include "lib/base/text/text.h"
#include "lib/meta/errors/other_errors.h"
#include "lib/service/reverse_proxy.h"
#include "services/core-api/connect/websocket/client_socket.h"
#include "services/core-api/connect/websocket/negotiation.h"

namespace apimesh::core_api {
namespace {

std::string_view HeaderOf(const mesh::Headers& headers, std::string_view name) {
  const auto is_wanted = [name](const auto& header) { return header.first == name; };
  const auto found = std::find_if(headers.begin(), headers.end(), is_wanted);
  return found == headers.end() ? std::string_view() : std::string_view(found->second);
}

/// Ends both sides when one direction ends, also by an exception.
struct Ending {
  mesh::ByteStream& kubelet;
  ClientSocket& client;
  ~Ending() {
    kubelet.Close();
    client.Abort();
  }
};

Task<> FromClient(ClientSocket& client, mesh::ByteStream& kubelet) {
  const Ending ending{kubelet, client};
  for (;;) {
    const std::optional<websocket::Part> part = co_await client.Next();
    if (!part || part->opcode != websocket::Opcode::kBinary) break;
    if (part->data.empty()) continue;
    const bool open = co_await kubelet.Write(std::string(part->data));
    if (!open) break;
  }
  co_await client.Close(websocket::kNormalClosure);
}

Task<> FromKubelet(ClientSocket& client, mesh::ByteStream& kubelet) {
  const Ending ending{kubelet, client};
  for (;;) {
    const meta::Result<std::string> data = co_await kubelet.Read();
    if (!data || data->empty()) break;
    const bool open = co_await client.Send(*data, std::string_view());
    if (!open) co_return;
  }
  co_await client.Close(websocket::kNormalClosure);
}

service::Outgoing SpdyRequest(const mesh::Request& request, std::string url) {
  service::Outgoing outgoing;
  outgoing.method = "POST";
  outgoing.url = std::move(url);
  outgoing.headers = service::PassedOn(request.headers, true);
  std::erase_if(outgoing.headers, [](const auto& header) {
    return header.first == "upgrade" || header.first == kStreamProtocolHeader ||
           header.first.starts_with("sec-websocket-");
  });
  outgoing.headers.emplace_back("upgrade", kSpdy);
  for (std::string& protocol : TunnelledProtocols(request))
    outgoing.headers.emplace_back(kStreamProtocolHeader, std::move(protocol));
  return outgoing;
}

/// The subprotocol of the client for the protocol that the kubelet has selected; empty if the client did not ask for
/// it.
std::string SelectedProtocol(const mesh::Request& request, const mesh::Headers& answer) {
  const std::string_view selected = HeaderOf(answer, kStreamProtocolHeader);
  const std::vector<std::string> asked = TunnelledProtocols(request);
  if (std::find(asked.begin(), asked.end(), selected) == asked.end()) return {};
  return std::string(kTunnelPrefix) + std::string(selected);
}

}  // namespace

Task<meta::Result<>> TunnelPortForward(mesh::Request request, mesh::ConnectStream& stream,
                                       std::shared_ptr<http::Client> client, std::string url) {
  using namespace boost::asio::experimental::awaitable_operators;
  if (std::optional<mesh::Response> refusal = RefusedHandshake(request)) {
    co_await stream.Answer(std::move(*refusal));
    co_return meta::Result<>();
  }
  service::Outgoing outgoing = SpdyRequest(request, std::move(url));
  http::ClientResult<mesh::Connection> kubelet = co_await service::ConnectTo(std::move(client), std::move(outgoing));
  if (!kubelet) co_return meta::PlainError(kubelet.error().message);
  if (!kubelet->stream) {
    co_await stream.Answer(std::move(kubelet->head));
    co_return meta::Result<>();
  }
  if (LowerCase(HeaderOf(kubelet->head.headers, "upgrade")).find("spdy/3.1") == std::string::npos)
    co_return meta::PlainError("unable to upgrade: missing upgrade headers in response");
  ClientSocket socket(stream);
  std::string protocol = SelectedProtocol(request, kubelet->head.headers);
  const bool open = co_await socket.Accept(std::move(request), std::move(protocol));
  if (open) co_await (FromClient(socket, *kubelet->stream) && FromKubelet(socket, *kubelet->stream));
  co_return meta::Result<>();
}

}  // namespace apimesh::core_api
