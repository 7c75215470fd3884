#include <fmt/format.h>

#include "lib/meta/query.h"
#include "lib/service/authorize_create.h"
#include "lib/service/reverse_proxy.h"
#include "services/core-api/groups/core/pod/connect/connectors.h"
#include "services/core-api/groups/core/pod/connect/place.h"

namespace apimesh::core_api {
namespace {

using meta::QueryParameters;

std::string Escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || c == '-' || c == '_' || c == '.' || c == '~') {
      escaped += c;
    } else {
      escaped += fmt::format("%{:02X}", byte);
    }
  }
  return escaped;
}

bool IsTrue(const QueryParameters& query, std::string_view name) {
  const std::optional<std::string> value = query.First(name);
  return value && *value != "false" && *value != "0" && *value != "False" && *value != "f";
}

/// What the kubelet calls the streams of a container.
std::string ContainerQuery(const QueryParameters& query) {
  std::string made;
  const auto add = [&made](std::string_view name, std::string_view value) {
    made += fmt::format("{}{}={}", made.empty() ? "" : "&", name, Escape(value));
  };
  for (const std::string& word : query.All("command")) add("command", word);
  if (IsTrue(query, "stderr")) add("error", "1");
  if (IsTrue(query, "stdin")) add("input", "1");
  if (IsTrue(query, "stdout")) add("output", "1");
  if (IsTrue(query, "tty")) add("tty", "1");
  return made;
}

std::string PortQuery(const QueryParameters& query) {
  const std::vector<std::string> ports = query.All("ports");
  return ports.empty() ? "" : "port=" + Escape(fmt::format("{}", fmt::join(ports, ",")));
}

class PodStream final : public endpoint::Connector {
 public:
  /// `word` is what the kubelet's path begins with; `container`: the stream is one of a container.
  PodStream(std::string word, bool container, ReadObject read, KubeletsPtr kubelets, service::AuthClientPtr auth)
      : word_(std::move(word)), container_(container), read_(std::move(read)), kubelets_(std::move(kubelets)),
        authorize_create_(service::CreateAuthorizer(std::move(auth))) {}

  Task<meta::Result<>> Forward(meta::RequestContext ctx, rpc::Request request, rpc::ResponseStream&) override {
    const meta::Result<std::string> url = co_await FindUrl(ctx, std::move(request));
    if (!url) co_return url.error();
    co_return meta::BadRequest("Upgrade request required");
  }

  Task<meta::Result<>> Upgrade(meta::RequestContext ctx, rpc::Request request, rpc::ConnectStream& stream) override {
    service::Outgoing outgoing;
    ASSIGN_OR_CO_RETURN(outgoing.url, co_await FindUrl(ctx, request));
    outgoing.method = request.method;
    outgoing.headers = service::PassedOn(request.headers, true);
    http::ClientResult<rpc::Connection> connection = co_await service::ConnectTo(kubelets_->Client(), std::move(outgoing));
    if (!connection) {
      meta::ApiError::Data data;
      data.message = connection.error().message;
      data.reason.clear();
      co_return meta::ApiError(std::move(data));
    }
    const bool open = co_await stream.Answer(std::move(connection->head));
    if (open && connection->stream) co_await service::Tunnel(stream, *connection->stream);
    co_return meta::Result<>();
  }

 private:
  Task<meta::Result<std::string>> FindUrl(meta::RequestContext ctx, rpc::Request request) {
    if (request.info.verb != "create") CO_RETURN_IF_ERROR(co_await authorize_create_(ctx));
    const std::string &ns = request.info.ns, &name = request.info.name;
    ASSIGN_OR_CO_RETURN(const meta::Object pod, co_await read_(fmt::format("/api/v1/namespaces/{}/pods/{}", ns, name)));
    const QueryParameters query(request.query);
    std::string path = fmt::format("/{}/{}/{}", word_, ns, name);
    if (container_) {
      ASSIGN_OR_CO_RETURN(const std::string container, ContainerOf(pod, query.First("container").value_or("")));
      path += "/" + container;
    }
    const std::string node(meta::FindString(pod.Root(), "spec", "nodeName"));
    if (node.empty()) co_return meta::BadRequest(fmt::format("pod {} does not have a host assigned", name));
    ASSIGN_OR_CO_RETURN(const Kubelets::Place place, co_await kubelets_->Find(node));
    const std::string parameters = container_ ? ContainerQuery(query) : PortQuery(query);
    co_return place.Url() + path + (parameters.empty() ? "" : "?" + parameters);
  }

  const std::string word_;
  const bool container_;
  const ReadObject read_;
  const KubeletsPtr kubelets_;
  const std::function<Task<meta::Result<>>(meta::RequestContext)> authorize_create_;
};

}  // namespace

std::shared_ptr<endpoint::Connector> ExecConnector(ReadObject read, KubeletsPtr kubelets, service::AuthClientPtr auth) {
  return std::make_shared<PodStream>("exec", true, std::move(read), std::move(kubelets), std::move(auth));
}
std::shared_ptr<endpoint::Connector> AttachConnector(ReadObject read, KubeletsPtr kubelets, service::AuthClientPtr auth) {
  return std::make_shared<PodStream>("attach", true, std::move(read), std::move(kubelets), std::move(auth));
}
std::shared_ptr<endpoint::Connector> PortForwardConnector(ReadObject read, KubeletsPtr kubelets, service::AuthClientPtr auth) {
  return std::make_shared<PodStream>("portForward", false, std::move(read), std::move(kubelets), std::move(auth));
}

}  // namespace apimesh::core_api
