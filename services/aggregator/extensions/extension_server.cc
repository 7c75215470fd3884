#include "services/aggregator/extensions/extension_server.h"

#include <boost/asio/steady_timer.hpp>
#include <fmt/format.h>

#include "lib/mesh/channel.h"
#include "lib/mesh/identity.h"
#include "lib/meta/errors/other_errors.h"
#include "proto/mesh/v1/delegate.pb.h"
#include "services/aggregator/extensions/describer.h"
#include "services/aggregator/extensions/endpoint.h"
#include "services/aggregator/extensions/responses.h"
#include "services/aggregator/extensions/watches.h"

namespace apimesh::aggregator {
namespace {

/// Ends a stream when its time is over. The handler of the timer may run after the stream has ended.
struct TimeLimit {
  std::function<void()> cancel;
  bool expired = false;
};

/// A stream that ends regularly when its time is over, even if the server ignores timeoutSeconds.
class TimedStream final : public mesh::ResponseStream {
 public:
  TimedStream(mesh::ResponseStream& stream, const boost::asio::any_io_executor& executor, Duration time)
      : stream_(stream), timer_(executor, time) {
    timer_.async_wait([limit = limit_](const boost::system::error_code& error) {
      if (error) return;
      limit->expired = true;
      if (limit->cancel) limit->cancel();
    });
  }
  Task<bool> WriteHead(int code, mesh::Headers headers) override { return stream_.WriteHead(code, std::move(headers)); }
  Task<bool> WriteComplete(mesh::Response response) override { return stream_.WriteComplete(std::move(response)); }
  Task<bool> Write(std::vector<SharedBytes> pieces) override { return stream_.Write(std::move(pieces)); }
  void OnCancel(std::function<void()> callback) override {
    limit_->cancel = callback;
    stream_.OnCancel(std::move(callback));
  }
  void Abort() override {
    if (!limit_->expired) stream_.Abort();
  }

 private:
  mesh::ResponseStream& stream_;
  const std::shared_ptr<TimeLimit> limit_ = std::make_shared<TimeLimit>();
  boost::asio::steady_timer timer_;
};

/// Removes what an extension server does not get.
void Reduce(mesh::Request& request) {
  std::erase_if(request.headers, [](const auto& header) {
    return header.first == "accept-encoding" || header.first == "content-encoding" ||
           header.first.starts_with("x-apimesh-") || header.first == "x-kubernetes-deprecated";
  });
  request.watch_phase = mesh::v1::WATCH_PHASE_NONE;
  request.accepts_revocable_memory = false;
}

bool AcceptsJson(std::string_view accept) {
  while (!accept.empty()) {
    const std::size_t comma = std::min(accept.find(','), accept.size());
    const std::string_view item = accept.substr(0, comma);
    accept.remove_prefix(std::min(comma + 1, accept.size()));
    for (const std::string_view type : {"application/json", "application/*", "*/*"}) {
      if (item.find(type) != std::string_view::npos && item.find("as=") == std::string_view::npos) return true;
    }
  }
  return false;
}

std::shared_ptr<grpc::Channel> NewChannel(const ExtensionOptions& options, const ExtensionInputs& inputs,
                                          std::string& problem) {
  grpc::ChannelOptions channel{.clock = inputs.clock};
  channel.target = options.endpoint;
  channel.max_message_bytes = kMaxExtensionMessage;
  channel.refuses = inputs.refuses;
  channel.same_user = true;
  channel.tls = !IsSocket(options.endpoint);
  if (!channel.tls) return grpc::Channel::New(std::move(channel));
  net::ClientTlsOptions& tls = channel.tls_files;
  tls.protocol = "h2";
  tls.ca_pem = options.ca_pem;
  tls.cert_file = inputs.proxy_cert_file;
  tls.key_file = inputs.proxy_key_file;
  if (options.ca_pem.empty()) {
    tls.ca_file = inputs.mesh_ca_file;
    tls.cert_file = inputs.mesh_cert_file;
    tls.key_file = inputs.mesh_key_file;
    tls.server_uri = mesh::IdentityOf("extension/" + options.group);
  }
  // Without a certificate of the aggregator, the server could not tell its requests from those of others.
  if (tls.cert_file.empty() || tls.key_file.empty() || (tls.ca_pem.empty() && tls.ca_file.empty())) {
    problem = options.ca_pem.empty()
                  ? "without spec.caBundle, the aggregator needs the certificates of the mesh (--mesh-cert-file)"
                  : "the aggregator needs a client certificate (--proxy-client-cert-file)";
    return nullptr;
  }
  return grpc::Channel::New(std::move(channel));
}

}  // namespace

void AskForJson(mesh::Request& request) {
  const std::string_view accept = request.Header("accept");
  if (!accept.empty() && !AcceptsJson(accept)) return;
  std::erase_if(request.headers, [](const auto& header) { return header.first == "accept"; });
  request.headers.emplace_back("accept", "application/json");
}

ExtensionServer::ExtensionServer(ExtensionOptions options, const ExtensionInputs& inputs, std::function<void()> changed)
    : options_(std::move(options)), clock_(inputs.clock) {
  const std::shared_ptr<grpc::Channel> channel = NewChannel(options_, inputs, problem_);
  if (!channel) return;
  client_ = mesh::NewDelegateClient(channel, options_.endpoint, inputs.executor);
  describer_ = std::make_shared<Describer>(Describer::Source{
      channel, options_.endpoint, {options_.group, options_.version}, inputs.texts, clock_, std::move(changed)});
  describer_->Start(inputs.executor);
}

ExtensionServer::~ExtensionServer() {
  if (describer_) describer_->Stop();
}

Task<Backend::State> ExtensionServer::Check() {
  State state;
  if (!describer_) {
    state.reason = "NoCertificate";
    state.message = problem_;
    co_return state;
  }
  Refusal refusal = co_await describer_->Check();
  const Describer::Documents documents = describer_->LastDocuments();
  state.openapi_version = documents.version;
  if (documents.of) state.openapi_hash = documents.of->openapi_hash;
  const ExtensionResourcesPtr resources = describer_->Resources();
  if (refusal.reason.empty() && !resources) refusal = {"FailedConnection", "the connection was lost"};
  if (!refusal.reason.empty()) {
    state.reason = std::move(refusal.reason);
    state.message = std::move(refusal.message);
    co_return state;
  }
  state.status = "True";
  state.reason = "Passed";
  state.message = "all checks passed";
  state.resource_list = resources->resource_list;
  state.shared_watches = resources->shared_watches;
  co_return state;
}

std::optional<mesh::Response> ExtensionServer::AnswerHere(const mesh::Request& request) const {
  if (request.path.starts_with("/openapi/")) {
    const ExtensionResourcesPtr last = describer_ ? describer_->LastDocuments().of : nullptr;
    if (!last) return mesh::Response::Error(meta::GenericNotFound());
    const std::string& document = request.path == "/openapi/v2" ? last->openapi_v2 : last->openapi_v3;
    return document.empty() ? mesh::Response::Error(meta::GenericNotFound()) : mesh::Response::Json(200, document);
  }
  const ExtensionResourcesPtr served = describer_ ? describer_->Resources() : nullptr;
  if (!served) {
    return mesh::Response::Error(
        meta::ServiceUnavailable("the extension server of this API group is currently not available", 1));
  }
  const meta::RequestInfo& info = request.info;
  const std::string name = info.subresource.empty() ? info.resource : info.resource + "/" + info.subresource;
  const auto found = served->resources.find(name);
  if (!info.is_resource_request || found == served->resources.end())
    return mesh::Response::Error(meta::GenericNotFound());
  if (!found->second.verbs.contains(info.verb)) {
    return mesh::Response::Error(meta::MethodNotSupported({options_.group, info.resource}, info.verb.Text()));
  }
  if (request.Header("accept") == "application/json") return std::nullopt;
  return mesh::Response::Error(meta::NotAcceptable("only the following media types are accepted: application/json"));
}

Task<mesh::Response> ExtensionServer::Call(mesh::Request&& request) {
  if (std::optional<mesh::Response> answer = AnswerHere(request)) co_return std::move(*answer);
  Reduce(request);
  mesh::Response response = co_await client_->Call(std::move(request));
  std::optional<mesh::Response> refusal = CheckHead(response.code, response.headers);
  co_return refusal ? std::move(*refusal) : std::move(response);
}

Task<> ExtensionServer::Stream(mesh::Request request, mesh::ResponseStream& stream) {
  if (std::optional<mesh::Response> answer = AnswerHere(request)) {
    co_await stream.WriteComplete(std::move(*answer));
    co_return;
  }
  const mesh::v1::WatchPhase phase = request.watch_phase;
  const std::optional<std::uint64_t> start = StartOf(request);
  if (start && (phase == mesh::v1::WATCH_PHASE_CATCH_UP || phase == mesh::v1::WATCH_PHASE_FINAL_BOOKMARK)) {
    const ExtensionResourcesPtr served = describer_->Resources();
    const auto found = served ? served->resources.find(request.info.resource) : decltype(served->resources.end())();
    std::string kind = served && found != served->resources.end() ? found->second.kind : std::string();
    co_await CatchUp(std::move(request), *start, std::move(kind), stream);
    co_return;
  }
  Reduce(request);
  if (start && phase == mesh::v1::WATCH_PHASE_FOLLOW) {
    FollowedWatch followed(*start, stream);
    co_await client_->Stream(std::move(request), followed);
    co_await followed.Finish();
    co_return;
  }
  CheckedStream checked(stream);
  if (request.info.verb != meta::Verb::kWatch) {
    co_await client_->Stream(std::move(request), checked);
    co_return;
  }
  const boost::asio::any_io_executor executor = co_await boost::asio::this_coro::executor;
  TimedStream timed(checked, executor, TimeoutOf(request));
  co_await client_->Stream(std::move(request), timed);
}

Task<mesh::Connection> ExtensionServer::Connect(mesh::Request) {
  mesh::Connection connection;
  connection.head = mesh::Response::Error(meta::BadRequest("extension servers do not support protocol upgrades"));
  co_return connection;
}

}  // namespace apimesh::aggregator
