#include "services/console/cluster/proxy.h"

#include <algorithm>

#include "lib/service/reverse_proxy.h"
#include "services/console/requests/answers.h"

namespace apimesh::console {
namespace {

constexpr std::string_view kMethods[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};
constexpr std::string_view kRequestHeaders[] = {"accept", "accept-encoding", "content-type", "user-agent"};
constexpr std::string_view kResponseHeaders[] = {"content-type", "content-encoding", "vary", "warning",
                                                 "retry-after",  "audit-id",         "etag"};

template <std::size_t N>
bool IsOneOf(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

meta::ApiError MethodRefused() {
  return meta::ApiError(
      {.code = 405, .reason = meta::Reason::kMethodNotAllowed, .message = "the console does not forward this method"});
}

/// Passes a response to a browser.
class BrowserStream final : public mesh::ResponseStream {
 public:
  explicit BrowserStream(http::ResponseWriter& writer) : writer_(writer) {}

  Task<bool> WriteHead(int code, mesh::Headers headers) override {
    std::erase_if(headers, [](const auto& header) { return !IsOneOf(kResponseHeaders, header.first); });
    AddDataHeaders(headers);
    return writer_.Start(code, std::move(headers), false);
  }
  Task<bool> Write(std::vector<SharedBytes> pieces) override { return writer_.Write(std::move(pieces)); }
  void OnCancel(std::function<void()> callback) override { writer_.OnDisconnect(std::move(callback)); }
  void Abort() override {
    aborted_ = true;
    writer_.Abort();
  }
  bool Aborted() const { return aborted_; }

 private:
  http::ResponseWriter& writer_;
  bool aborted_ = false;
};

}  // namespace

Task<> Forward(IdentityPtr identity, http::Request request, std::string target, SteadyTime deadline,
               http::ResponseWriter& writer) {
  if (!IsOneOf(kMethods, request.method)) {
    co_await SendError(writer, MethodRefused());
    co_return;
  }
  service::Outgoing outgoing;
  outgoing.method = request.method;
  outgoing.url = identity->server + target;
  outgoing.deadline = deadline;
  for (auto& header : request.headers) {
    if (IsOneOf(kRequestHeaders, header.first)) outgoing.headers.push_back(std::move(header));
  }
  outgoing.headers.insert(outgoing.headers.end(), identity->headers.begin(), identity->headers.end());
  if (writer.HasBody()) {
    http::BodyTerms terms;
    http::BodyResult body = co_await writer.ReadBody(std::move(terms));
    if (!body) {
      co_await http::SendRefusal(writer, body.error(), &ErrorBody);
      co_return;
    }
    outgoing.body = std::move(*body);
  }
  BrowserStream stream(writer);
  const http::ClientResult<> result = co_await service::StreamTo(identity->client, std::move(outgoing), stream);
  if (!result) {
    co_await SendError(writer, meta::ServiceUnavailable("the API server is not reachable: " + result.error().message));
    co_return;
  }
  if (writer.HeadSent() && !stream.Aborted()) co_await writer.Finish();
}

}  // namespace apimesh::console
