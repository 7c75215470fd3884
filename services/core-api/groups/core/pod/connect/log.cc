#include <fmt/format.h>

#include "lib/base/text/url.h"
#include "lib/endpoint/input/query.h"
#include "lib/meta/errors/other_errors.h"
#include "lib/meta/time.h"
#include "lib/service/reverse_proxy.h"
#include "services/core-api/groups/core/pod/connect/connectors.h"
#include "services/core-api/groups/core/pod/connect/container.h"

namespace apimesh::core_api {
namespace {

using endpoint::Query;

/// The options of a request for a log. Text of the client that is not parsed must not become part of the kubelet's URL,
/// because it could add parameters.
struct Options {
  std::optional<std::int64_t> tail, limit, since_seconds;
  std::optional<WallTime> since_time;
  bool follow = false, previous = false, timestamps = false, skip_verification = false;
  bool has_since_time = false, has_stream = false;  // the parameter is present, even if it is empty
  std::string container;
  std::string log_stream;  // All, Stdout or Stderr; empty: the feature is off
};

meta::Result<Options> ParseOptions(const Query& query, bool splits_streams) {
  Options options;
  if (splits_streams) options.log_stream = query.Has("stream") ? query.First("stream") : "All";
  ASSIGN_OR_RETURN(options.tail, query.Integer("tailLines"));
  ASSIGN_OR_RETURN(options.limit, query.Integer("limitBytes"));
  ASSIGN_OR_RETURN(options.since_seconds, query.Integer("sinceSeconds"));
  if (const std::string_view time = query.First("sinceTime"); !time.empty()) {
    options.since_time = meta::ParseTime(time);
    if (!options.since_time) {
      return meta::BadRequest(fmt::format(
          "parsing time {0} as \"2006-01-02T15:04:05Z07:00\": cannot parse {0} as \"2006\"", meta::Quoted(time)));
    }
  }
  const auto is_true = [&query](std::string_view name) { return query.Bool(name).value_or(false); };
  options.follow = is_true("follow");
  options.previous = is_true("previous");
  options.timestamps = is_true("timestamps");
  options.skip_verification = is_true("insecureSkipTLSVerifyBackend");
  options.has_since_time = query.Has("sinceTime");
  options.has_stream = query.Has("stream");
  options.container = query.First("container");
  return options;
}

meta::FieldErrors Validate(const Options& options, bool splits_streams) {
  meta::FieldErrors errors;
  const auto &tail = options.tail, &limit = options.limit, &since = options.since_seconds;
  if (tail && *tail < 0)
    errors.push_back(meta::Invalid("tailLines", std::to_string(*tail), "must be greater than or equal to 0"));
  if (limit && *limit < 1)
    errors.push_back(meta::Invalid("limitBytes", std::to_string(*limit), "must be greater than 0"));
  if (since && options.has_since_time) {
    errors.push_back(meta::Forbidden("[]", "at most one of `sinceTime` or `sinceSeconds` may be specified"));
  } else if (since && *since < 1) {
    errors.push_back(meta::Invalid("sinceSeconds", std::to_string(*since), "must be greater than 0"));
  }
  const std::string& log_stream = options.log_stream;
  if (!splits_streams) {
    if (options.has_stream) errors.push_back(meta::Forbidden("stream", "may not be specified"));
    return errors;
  }
  if (log_stream != "All" && log_stream != "Stdout" && log_stream != "Stderr")
    errors.push_back(meta::NotSupported("stream", meta::Quoted(log_stream), {"All", "Stderr", "Stdout"}));
  if (log_stream != "All" && tail)
    errors.push_back(meta::Forbidden("[]", "`tailLines` and specific `stream` are mutually exclusive for now"));
  return errors;
}

/// Returns the query for the kubelet, with the parameters in kube-apiserver's order: by name.
std::string KubeletQuery(const Options& options) {
  std::string made;
  const auto add = [&made](std::string_view name, std::string_view value) {
    made += fmt::format("{}{}={}", made.empty() ? "" : "&", name, value);
  };
  if (options.follow) add("follow", "true");
  if (options.limit) add("limitBytes", std::to_string(*options.limit));
  if (options.previous) add("previous", "true");
  if (options.since_seconds) add("sinceSeconds", std::to_string(*options.since_seconds));
  if (options.since_time) add("sinceTime", EncodeQuery(meta::FormatTime(*options.since_time)));
  if (!options.log_stream.empty()) add("stream", options.log_stream);
  if (options.tail) add("tailLines", std::to_string(*options.tail));
  if (options.timestamps) add("timestamps", "true");
  return made;
}

std::string LocationOf(const mesh::Headers& headers) {
  for (const auto& [name, value] : headers) {
    if (name == "location") return value;
  }
  return "";
}

/// Passes a successful response to the client as text, and keeps an error response for the caller to report.
class LogStream final : public mesh::ResponseStream {
 public:
  explicit LogStream(mesh::ResponseStream& stream) : stream_(stream) {}
  Task<bool> WriteHead(int code, mesh::Headers answered) override {
    code_ = code;
    if (service::IsRedirect(code, answered)) location_ = LocationOf(answered);
    mesh::Headers headers;
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
    if (!location_.empty())
      return meta::PlainError(fmt::format("Get {}: redirects forbidden", meta::Quoted(location_)));
    if (code_ == 500) return meta::InternalError(text_);
    if (code_ == 400) return meta::BadRequest(text_);
    meta::ApiError::Data data;
    data.code = code_;
    data.reason = code_ == 404 ? meta::Reason::kNotFound : meta::Reason::kNone;
    data.message = fmt::format(
        "{} ( pods/log {})",
        code_ == 404
            ? std::string("the server could not find the requested resource")
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
  mesh::ResponseStream& stream_;
  int code_ = 0;
  std::string text_;
  std::string location_;  // location of a redirect, which is not followed
};

class PodLog final : public registry::Connector {
 public:
  explicit PodLog(const KindInputs& inputs)
      : read_(inputs.api.read),
        kubelets_(inputs.kubelets),
        splits_streams_(inputs.features.Enabled(features::kPodLogsQuerySplitStreams)) {}
  bool OnlyReads() const override { return true; }

  Task<meta::Result<>> Forward(meta::RequestContext, mesh::Request request, mesh::ResponseStream& stream) override {
    const std::string &ns = request.info.ns, &name = request.info.name;
    ASSIGN_OR_CO_RETURN(const Options options, ParseOptions(Query(request.query), splits_streams_));
    const meta::FieldErrors errors = Validate(options, splits_streams_);
    if (!errors.empty()) co_return meta::Invalid(meta::GroupKind{"", "PodLogOptions"}, name, errors);
    ASSIGN_OR_CO_RETURN(const meta::Object pod, co_await read_(fmt::format("/api/v1/namespaces/{}/pods/{}", ns, name)));
    ASSIGN_OR_CO_RETURN(const std::string container, ContainerOf(pod, options.container));
    const std::string node(meta::FindString(pod.Root(), "spec", "nodeName"));
    if (node.empty()) {
      co_await stream.WriteHead(204, mesh::Headers());
      co_return meta::Result<>();
    }
    ASSIGN_OR_CO_RETURN(const Kubelets::Address address, co_await kubelets_->Find(node));
    const std::string parameters = KubeletQuery(options);
    service::Outgoing outgoing;
    outgoing.method = "GET";
    outgoing.url = fmt::format("{}/containerLogs/{}/{}/{}{}{}", address.Url(), ns, name, container,
                               parameters.empty() ? "" : "?", parameters);
    const bool verify = !options.skip_verification;
    LogStream log(stream);
    const std::string url = outgoing.url;
    const http::ClientResult<> sent = co_await service::StreamTo(kubelets_->Client(verify), std::move(outgoing), log);
    if (!sent) co_return meta::PlainError(fmt::format("Get \"{}\": {}", url, sent.error().message));
    if (!log.Good()) co_return log.Error(name);
    co_return meta::Result<>();
  }

  Task<meta::Result<>> Upgrade(meta::RequestContext, mesh::Request, mesh::ConnectStream&) override {
    co_return meta::BadRequest("logs are read by plain requests");
  }

 private:
  const ReadObject read_;
  const KubeletsPtr kubelets_;
  const bool splits_streams_;
};

}  // namespace

std::shared_ptr<registry::Connector> LogConnector(const KindInputs& inputs) { return std::make_shared<PodLog>(inputs); }

}  // namespace apimesh::core_api
