#include "services/core-api/connect/websocket/spdy_upgrade.h"

#include <fmt/format.h>

#include "lib/base/text/text.h"
#include "lib/base/text/trim.h"
#include "lib/meta/object.h"
#include "services/core-api/connect/websocket/negotiation.h"

namespace apimesh::core_api {
namespace {

constexpr std::string_view kProtocols[] = {"v5.channel.k8s.io", "v4.channel.k8s.io", "v3.channel.k8s.io",
                                           "v2.channel.k8s.io", "channel.k8s.io"};

/// The message of a response that does not upgrade the connection: that of a Status, or the body.
std::string MessageOf(std::string_view body) {
  boost::system::error_code error;
  const meta::json::value parsed = meta::json::parse(body, error);
  if (!error && parsed.is_object()) {
    for (const std::string_view name : {"message", "error"}) {
      const std::string_view message = TrimSpace(meta::FindString(parsed.get_object(), name));
      if (!message.empty()) return std::string(message);
    }
  }
  const std::string_view text = TrimSpace(body);
  return text.empty() ? "empty server response" : std::string(text);
}

}  // namespace

Task<http::ClientResult<KubeletConnection>> ConnectBySpdy(std::shared_ptr<http::Client> client, std::string url,
                                                          SteadyTime deadline) {
  http::Headers headers;
  headers.emplace_back("connection", "Upgrade");
  headers.emplace_back("upgrade", kSpdy);
  for (const std::string_view protocol : kProtocols) headers.emplace_back(kStreamProtocolHeader, protocol);
  auto upgraded = co_await client->Upgrade("POST", url, std::move(headers), deadline);
  http::ClientError error;
  if (!upgraded) {
    error = {upgraded.error().code,
             fmt::format("error sending request: Post \"{}\": {}", url, upgraded.error().message)};
    co_return error;
  }
  const http::ClientResponse& response = upgraded->response;
  if (response.code >= 300 && response.code < 400) {
    error = {http::ClientError::Code::kUpgradeRefused,
             fmt::format("error sending request: Post \"{}\": redirect not allowed", url)};
    co_return error;
  }
  if (!upgraded->connection || LowerCase(response.Header("upgrade")).find("spdy/3.1") == std::string::npos) {
    error = {http::ClientError::Code::kUpgradeRefused, "unable to upgrade connection: " + MessageOf(response.body)};
    co_return error;
  }
  KubeletConnection made;
  made.protocol = response.Header(kStreamProtocolHeader);
  made.connection = std::move(upgraded->connection);
  co_return made;
}

}  // namespace apimesh::core_api
