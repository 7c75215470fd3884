#include "services/aggregator/apiservices/api_requests.h"

#include <fmt/format.h>

#include "lib/base/clock.h"
#include "lib/codec/codec.h"

namespace apimesh::aggregator {
namespace {

constexpr std::chrono::seconds kLongest{10};

/// The answer of a stream, in one piece.
class Collector final : public rpc::ResponseStream {
 public:
  Task<bool> WriteHead(int head_code, rpc::Headers) override {
    code = head_code;
    co_return true;
  }
  Task<bool> Write(std::vector<SharedBytes> pieces) override {
    for (const SharedBytes& piece : pieces) body.append(piece.View());
    co_return true;
  }
  void OnCancel(std::function<void()>) override {}
  void Abort() override { code = 503; }

  int code = 503;
  std::string body;
};

class InProcessClient final : public rpc::DelegateClient {
 public:
  explicit InProcessClient(std::shared_ptr<rpc::DelegateHandler> handler) : handler_(std::move(handler)) {}
  Task<rpc::Response> Call(rpc::Request&& request) override { return handler_->Call(std::move(request)); }
  Task<> Stream(rpc::Request request, rpc::ResponseStream& stream) override { return handler_->Stream(std::move(request), stream); }
  Task<rpc::Connection> Connect(rpc::Request request) override {  // nothing here can be upgraded
    rpc::Connection connection;
    connection.head = co_await handler_->Call(std::move(request));
    co_return connection;
  }
  std::shared_ptr<void> Describe(std::function<void(std::optional<rpc::Description>)> changed) override {
    return handler_->Describe([changed = std::move(changed)](rpc::Description description) { changed(std::move(description)); });
  }

 private:
  std::shared_ptr<rpc::DelegateHandler> handler_;
};

}  // namespace

Task<meta::Result<meta::Object>> SendRequest(std::shared_ptr<rpc::DelegateClient> server, std::string method, std::string path,
                                             std::string query, std::string body) {
  rpc::Request request;
  request.method = method;
  request.path = path;
  request.query = query;
  request.body = std::move(body);
  request.headers = {{"accept", "application/json"}, {"content-type", "application/json"}, {"user-agent", "kube-apiserver/v1.36.3 (linux/amd64) apimesh"}};
  request.user.name = "system:apiserver";
  request.user.groups = {"system:masters", "system:authenticated"};
  request.info = meta::ParseRequestInfo(method, path, query);
  request.deadline = Clock::System().Steady() + kLongest;
  Collector collector;
  const rpc::Request again = request;
  const rpc::Response response = co_await server->Call(std::move(request));
  if (response.use_stream) {
    co_await server->Stream(again, collector);
  } else {
    collector.code = response.code;
    for (const SharedBytes& piece : response.body) collector.body.append(piece.View());
  }
  meta::Result<meta::json::value> parsed = codec::ParseJson(collector.body, {});
  const bool readable = parsed && parsed->is_object();
  if (readable && collector.code < 300) co_return meta::Object(std::move(parsed->get_object()));
  if (readable) co_return meta::FromStatus(parsed->get_object());
  co_return meta::InternalError(fmt::format("{} {} gave {}", method, path, collector.code));
}

std::shared_ptr<rpc::DelegateClient> InProcess(std::shared_ptr<rpc::DelegateHandler> handler) {
  return std::make_shared<InProcessClient>(std::move(handler));
}

}  // namespace apimesh::aggregator
