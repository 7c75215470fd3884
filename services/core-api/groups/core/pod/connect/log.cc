#include <fmt/format.h>

#include <charconv>

#include "lib/meta/query.h"
#include "lib/meta/time.h"
#include "lib/service/reverse_proxy.h"
#include "services/core-api/groups/core/pod/connect/connectors.h"
#include "services/core-api/groups/core/pod/connect/place.h"

namespace apimesh::core_api {
namespace {

using meta::QueryParameters;

std::optional<std::int64_t> Number(const QueryParameters& query, std::string_view name) {
  const std::optional<std::string> text = query.First(name);
  std::int64_t number = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), number).ec != std::errc()) return std::nullopt;
  return number;
}

bool IsTrue(const QueryParameters& query, std::string_view name) {
  const std::optional<std::string> value = query.First(name);
  return value && *value != "false" && *value != "0";
}

std::optional<WallTime> SinceTime(const QueryParameters& query) { return meta::ParseTime(query.First("sinceTime").value_or("")); }

meta::FieldErrors ValidateOptions(const QueryParameters& query) {
  meta::FieldErrors errors;
  const auto tail = Number(query, "tailLines"), limit = Number(query, "limitBytes"), since = Number(query, "sinceSeconds");
  if (tail && *tail < 0) errors.push_back(meta::Invalid("tailLines", std::to_string(*tail), "must be greater than or equal to 0"));
  if (limit && *limit < 1) errors.push_back(meta::Invalid("limitBytes", std::to_string(*limit), "must be greater than 0"));
  if (since && query.First("sinceTime")) {
    errors.push_back(meta::Forbidden("", "at most one of `sinceTime` or `sinceSeconds` may be specified"));
  } else if (since && *since < 1) {
    errors.push_back(meta::Invalid("sinceSeconds", std::to_string(*since), "must be greater than 0"));
  }
  if (query.First("stream")) errors.push_back(meta::Forbidden("stream", "may not be specified"));
  return errors;
}

/// In the order of the reference: by name.
std::string KubeletQuery(const QueryParameters& query) {
  std::string made;
  const auto add = [&made](std::string_view name, std::string_view value) {
    made += fmt::format("{}{}={}", made.empty() ? "" : "&", name, value);
  };
  if (IsTrue(query, "follow")) add("follow", "true");
  if (const auto limit = Number(query, "limitBytes")) add("limitBytes", std::to_string(*limit));
  if (IsTrue(query, "previous")) add("previous", "true");
  if (const auto since = Number(query, "sinceSeconds")) add("sinceSeconds", std::to_string(*since));
  if (const std::optional<WallTime> since = SinceTime(query)) {
    std::string time = meta::FormatTime(*since);
    for (std::size_t at = 0; (at = time.find(':', at)) != std::string::npos;) time.replace(at, 1, "%3A");
    add("sinceTime", time);
  }
  if (const auto tail = Number(query, "tailLines")) add("tailLines", std::to_string(*tail));
  if (IsTrue(query, "timestamps")) add("timestamps", "true");
  return made;
}

meta::ApiError Unknown(std::string message) {
  meta::ApiError::Data data;
  data.reason.clear();
  data.message = std::move(message);
  return meta::ApiError(std::move(data));
}

std::string LocationOf(const rpc::Headers& headers) {
  for (const auto& [name, value] : headers) {
    if (name == "location") return value;
  }
  return "";
}

/// Passes a good answer on as text, and keeps a bad one to be told.
class LogStream final : public rpc::ResponseStream {
 public:
  explicit LogStream(rpc::ResponseStream& stream) : stream_(stream) {}
  Task<bool> WriteHead(int code, rpc::Headers answered) override {
    code_ = code;
    if (service::IsRedirect(code, answered)) location_ = LocationOf(answered);
    rpc::Headers headers;
    headers.emplace_back("content-type", "text/plain");
    if (Good()) co_return co_await stream_.WriteHead(200, std::move(headers));
    co_return true;
  }
  Task<bool> Write(std::vector<SharedBytes> pieces) override {
    if (Good()) co_return co_await stream_.Write(std::move(pieces));
    for (const SharedBytes& piece : pieces) text_ += piece.View();
    co_return text_.size() < kMostText;
  }
  void OnCancel(std::function<void()> callback) override { stream_.OnCancel(std::move(callback)); }
  void Abort() override { stream_.Abort(); }

  bool Good() const { return code_ >= 200 && code_ <= 206; }
  meta::ApiError Error(const std::string& pod) const {
    if (!location_.empty()) return Unknown(fmt::format("Get {}: redirects forbidden", meta::Quoted(location_)));
    if (code_ == 500) return meta::InternalError(text_);
    if (code_ == 400) return meta::BadRequest(text_);
    meta::ApiError::Data data;
    data.code = code_;
    data.reason = code_ == 404 ? "NotFound" : "";
    data.message = fmt::format("{} ( pods/log {})",
                               code_ == 404 ? std::string("the server could not find the requested resource")
                                            : fmt::format("the server responded with the status code {} but did not return more information", code_),
                               pod);
    data.kind = "pods/log";
    data.name = pod;
    data.has_details = true;
    data.causes.push_back({"UnexpectedServerResponse", text_, ""});
    return meta::ApiError(std::move(data));
  }

 private:
  static constexpr std::size_t kMostText = 2000;
  rpc::ResponseStream& stream_;
  int code_ = 0;
  std::string text_;
  std::string location_;  // of a redirect, which is not followed
};

class PodLog final : public endpoint::Connector {
 public:
  PodLog(ReadObject read, KubeletsPtr kubelets) : read_(std::move(read)), kubelets_(std::move(kubelets)) {}
  bool OnlyReads() const override { return true; }

  Task<meta::Result<>> Forward(meta::RequestContext, rpc::Request request, rpc::ResponseStream& stream) override {
    const QueryParameters query(request.query);
    const std::string &ns = request.info.ns, &name = request.info.name;
    // Nothing of the client's text may get into the kubelet's URL unread: it could add parameters of its own.
    if (const std::string time = query.First("sinceTime").value_or(""); !time.empty() && !SinceTime(query)) {
      co_return meta::BadRequest(fmt::format("parsing time {0} as \"2006-01-02T15:04:05Z07:00\": cannot parse {0} as \"2006\"", meta::Quoted(time)));
    }
    const meta::FieldErrors errors = ValidateOptions(query);
    if (!errors.empty()) co_return meta::Invalid(meta::GroupKind{"", "PodLogOptions"}, name, errors);
    ASSIGN_OR_CO_RETURN(const meta::Object pod, co_await read_(fmt::format("/api/v1/namespaces/{}/pods/{}", ns, name)));
    ASSIGN_OR_CO_RETURN(const std::string container, ContainerOf(pod, query.First("container").value_or("")));
    const std::string node(meta::FindString(pod.Root(), "spec", "nodeName"));
    if (node.empty()) {
      co_await stream.WriteHead(204, {});
      co_return meta::Result<>();
    }
    ASSIGN_OR_CO_RETURN(const Kubelets::Place place, co_await kubelets_->Find(node));
    const std::string parameters = KubeletQuery(query);
    service::Outgoing outgoing;
    outgoing.method = "GET";
    outgoing.url = fmt::format("{}/containerLogs/{}/{}/{}{}{}", place.Url(), ns, name, container, parameters.empty() ? "" : "?", parameters);
    const bool verify = !IsTrue(query, "insecureSkipTLSVerifyBackend");
    LogStream log(stream);
    const std::string url = outgoing.url;
    const http::ClientResult<> sent = co_await service::StreamTo(kubelets_->Client(verify), std::move(outgoing), log);
    if (!sent) {
      co_return Unknown(fmt::format("Get \"{}\": {}", url, sent.error().message));
    }
    if (!log.Good()) co_return log.Error(name);
    co_return meta::Result<>();
  }

  Task<meta::Result<>> Upgrade(meta::RequestContext, rpc::Request, rpc::ConnectStream&) override {
    co_return meta::BadRequest("logs are read by plain requests");
  }

 private:
  const ReadObject read_;
  const KubeletsPtr kubelets_;
};

}  // namespace

std::shared_ptr<endpoint::Connector> LogConnector(ReadObject read, KubeletsPtr kubelets) {
  return std::make_shared<PodLog>(std::move(read), std::move(kubelets));
}

}  // namespace apimesh::core_api
