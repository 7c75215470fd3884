#include <algorithm>

#include <fmt/format.h>

#include "lib/base/text/url.h"
#include "lib/endpoint/input/query.h"
#include "lib/meta/errors/other_errors.h"
#include "lib/service/authorize_create.h"
#include "lib/service/reverse_proxy.h"
#include "services/core-api/connect/websocket/negotiation.h"
#include "services/core-api/connect/websocket/port_forward.h"
#include "services/core-api/connect/websocket/remote_command.h"
#include "services/core-api/groups/core/pod/connect/connectors.h"
#include "services/core-api/groups/core/pod/connect/container.h"

namespace apimesh::core_api {
namespace {

using endpoint::Query;

bool IsTrue(const Query& query, std::string_view name) { return query.Bool(name).value_or(false); }

/// Translates the query parameters to the kubelet's names for the streams of a container.
std::string ContainerQuery(const Query& query) {
  std::string made;
  const auto add = [&made](std::string_view name, std::string_view value) {
    made += fmt::format("{}{}={}", made.empty() ? "" : "&", name, EncodeQuery(value));
  };
  for (const std::string& word : query.All("command")) add("command", word);
  if (IsTrue(query, "stderr")) add("error", "1");
  if (IsTrue(query, "stdin")) add("input", "1");
  if (IsTrue(query, "stdout")) add("output", "1");
  if (IsTrue(query, "tty")) add("tty", "1");
  return made;
}

std::string PortQuery(const Query& query) {
  const std::vector<std::string> ports = query.All("ports");
  return ports.empty() ? "" : "port=" + EncodeQuery(fmt::format("{}", fmt::join(ports, ",")));
}

/// Where a stream ends.
struct Destination {
  std::string node;
  std::string url;
};

bool Declares(const meta::Object& node, std::string_view feature) {
  const meta::json::value* declared = meta::Find(node.Root(), "status", "declaredFeatures");
  if (!declared || !declared->is_array()) return false;
  const meta::json::array& features = declared->get_array();
  const auto is_wanted = [feature](const meta::json::value& one) {
    return one.is_string() && one.get_string() == feature;
  };
  return std::any_of(features.begin(), features.end(), is_wanted);
}

/// Finds the kubelet of a pod and connects the client with it. What is specific to a kind of stream is in Translate().
class PodStream : public registry::Connector {
 public:
  /// `word` is the first segment of the kubelet's path. `container` is true if the stream belongs to a container.
  PodStream(std::string word, bool container, const KindInputs& inputs)
      : kubelets_(inputs.kubelets),
        clock_(inputs.clock),
        word_(std::move(word)),
        container_(container),
        extends_websockets_(inputs.features.Enabled(features::kExtendWebSocketsToKubelet)),
        authorizes_create_(inputs.features.Enabled(features::kAuthorizePodWebsocketUpgradeCreatePermission)),
        read_(inputs.api.read),
        authorize_create_(service::CreateAuthorizer(inputs.auth)) {}

  Task<meta::Result<>> Forward(meta::RequestContext ctx, mesh::Request request, mesh::ResponseStream&) override {
    const meta::Result<Destination> destination = co_await Find(ctx, std::move(request));
    if (!destination) co_return destination.error();
    co_return meta::BadRequest("Upgrade request required");
  }

  Task<meta::Result<>> Upgrade(meta::RequestContext ctx, mesh::Request request, mesh::ConnectStream& stream) override {
    ASSIGN_OR_CO_RETURN(Destination destination, co_await Find(ctx, request));
    if (AsksForTranslation(request)) {
      ASSIGN_OR_CO_RETURN(const bool translated, co_await IsTranslatedByKubelet(destination.node));
      if (!translated) co_return co_await Translate(std::move(request), std::move(destination.url), stream);
    }
    service::Outgoing outgoing;
    outgoing.url = std::move(destination.url);
    outgoing.method = request.method;
    outgoing.headers = service::PassedOn(request.headers, true);
    http::ClientResult<mesh::Connection> connection =
        co_await service::ConnectTo(kubelets_->Client(), std::move(outgoing));
    if (!connection) co_return meta::PlainError(connection.error().message);
    const bool open = co_await stream.Answer(std::move(connection->head));
    if (open && connection->stream) co_await service::Tunnel(stream, *connection->stream);
    co_return meta::Result<>();
  }

 protected:
  /// Whether the client asks for a WebSocket that only a kubelet that speaks WebSocket understands.
  virtual bool AsksForTranslation(const mesh::Request& request) const = 0;
  virtual Task<meta::Result<>> Translate(mesh::Request request, std::string url, mesh::ConnectStream& stream) = 0;

  const KubeletsPtr kubelets_;
  const Clock* const clock_;

 private:
  Task<meta::Result<Destination>> Find(meta::RequestContext ctx, mesh::Request request) {
    if (authorizes_create_ && request.info.verb != meta::Verb::kCreate)
      CO_RETURN_IF_ERROR(co_await authorize_create_(ctx));
    const std::string &ns = request.info.ns, &name = request.info.name;
    ASSIGN_OR_CO_RETURN(const meta::Object pod, co_await read_(fmt::format("/api/v1/namespaces/{}/pods/{}", ns, name)));
    const Query query(request.query);
    std::string path = fmt::format("/{}/{}/{}", word_, ns, name);
    if (container_) {
      ASSIGN_OR_CO_RETURN(const std::string container, ContainerOf(pod, std::string(query.First("container"))));
      path += "/" + container;
    }
    const std::string node(meta::FindString(pod.Root(), "spec", "nodeName"));
    if (node.empty()) co_return meta::BadRequest(fmt::format("pod {} does not have a host assigned", name));
    ASSIGN_OR_CO_RETURN(const Kubelets::Address address, co_await kubelets_->Find(node));
    const std::string parameters = container_ ? ContainerQuery(query) : PortQuery(query);
    Destination destination;
    destination.node = node;
    destination.url = address.Url() + path + (parameters.empty() ? "" : "?" + parameters);
    co_return destination;
  }

  /// Whether the kubelet of a node serves the WebSockets of clients itself.
  Task<meta::Result<bool>> IsTranslatedByKubelet(std::string node) {
    if (!extends_websockets_) co_return false;
    ASSIGN_OR_CO_RETURN(const meta::Object found, co_await read_("/api/v1/nodes/" + node));
    co_return Declares(found, features::kExtendWebSocketsToKubelet);
  }

  const std::string word_;
  const bool container_, extends_websockets_, authorizes_create_;
  const ReadObject read_;
  const std::function<Task<meta::Result<>>(meta::RequestContext)> authorize_create_;
};

class ContainerStream final : public PodStream {
 public:
  ContainerStream(std::string word, const KindInputs& inputs)
      : PodStream(std::move(word), true, inputs),
        translates_(inputs.features.Enabled(features::kTranslateStreamCloseWebsocketRequests)) {}

 protected:
  bool AsksForTranslation(const mesh::Request& request) const override {
    return translates_ && AsksForStreamClose(request);
  }
  Task<meta::Result<>> Translate(mesh::Request request, std::string url, mesh::ConnectStream& stream) override {
    const Query query(request.query);
    CommandStreams streams;
    streams.in = IsTrue(query, "stdin");
    streams.out = IsTrue(query, "stdout");
    streams.error = IsTrue(query, "stderr");
    streams.tty = IsTrue(query, "tty");
    co_await TranslateCommand(std::move(request), stream, kubelets_->Client(), std::move(url), streams, *clock_);
    co_return meta::Result<>();
  }

 private:
  const bool translates_;
};

class PortStream final : public PodStream {
 public:
  explicit PortStream(const KindInputs& inputs)
      : PodStream("portForward", false, inputs),
        translates_(inputs.features.Enabled(features::kPortForwardWebsockets)) {}

 protected:
  bool AsksForTranslation(const mesh::Request& request) const override {
    return translates_ && !TunnelledProtocols(request).empty();
  }
  Task<meta::Result<>> Translate(mesh::Request request, std::string url, mesh::ConnectStream& stream) override {
    return TunnelPortForward(std::move(request), stream, kubelets_->Client(), std::move(url));
  }

 private:
  const bool translates_;
};

}  // namespace

std::shared_ptr<registry::Connector> ExecConnector(const KindInputs& inputs) {
  return std::make_shared<ContainerStream>("exec", inputs);
}
std::shared_ptr<registry::Connector> AttachConnector(const KindInputs& inputs) {
  return std::make_shared<ContainerStream>("attach", inputs);
}
std::shared_ptr<registry::Connector> PortForwardConnector(const KindInputs& inputs) {
  return std::make_shared<PortStream>(inputs);
}

}  // namespace apimesh::core_api
