#pragma once

#include <deque>
#include <map>

#include <fmt/ranges.h>

#include "lib/admission/matching/testing_versions.h"
#include "lib/admission/testing_cluster.h"
#include "lib/base/text/base64.h"
#include "lib/codec/codec.h"

/// For tests of the webhook plugins: configurations and namespaces in memory, and webhook servers without sockets.
namespace apimesh::admission::webhooks {

/// Webhook configurations and namespaces. A test changes configurations with Set() and Remove().
class FakeObjects final : public Objects {
 public:
  Task<meta::Result<ObjectPtr>> Get(meta::RequestContext, meta::Gvr resource, std::string, std::string name,
                                    Read) override {
    const auto found = namespaces.find(name);
    if (found == namespaces.end()) co_return meta::NotFound(resource.GroupResource(), name);
    co_return std::make_shared<const meta::Object>(Parse(found->second));
  }
  Task<meta::Result<std::vector<ObjectPtr>>> List(meta::RequestContext, meta::Gvr, std::string, meta::LabelSelector,
                                                  Read) override {
    co_return std::vector<ObjectPtr>();
  }
  std::unique_ptr<Subscription> Subscribe(const meta::Gvr&, std::function<void(const Change&)> changed) override {
    changed_ = std::move(changed);
    return std::make_unique<Handle>(*this);
  }
  void Set(const std::string& json) {
    changed_({Change::Type::kSet, std::make_shared<const meta::Object>(Parse(json))});
  }
  void Remove(const std::string& json) {
    changed_({Change::Type::kRemoved, std::make_shared<const meta::Object>(Parse(json))});
  }

  std::map<std::string, std::string> namespaces;
  bool synced = true;
  int checks_until_synced = 0;  // how often a subscriber finds that it is not synced before it is

 private:
  struct Handle final : Subscription {
    explicit Handle(FakeObjects& objects) : owner(objects) {}
    bool Synced() const override { return owner.synced && owner.checks_until_synced-- <= 0; }
    FakeObjects& owner;
  };
  std::function<void(const Change&)> changed_;
};

/// Answers requests to webhooks by the path of their URL, and records them.
class FakeServers final : public http::Client {
 public:
  struct Request {
    std::string url;
    http::Headers headers;
    meta::json::object review;
  };
  /// Returns the fields of `response` for a review, as JSON without the uid.
  using Answer = std::function<http::ClientResult<http::ClientResponse>(const Request& request)>;

  Task<http::ClientResult<http::ClientResponse>> Do(std::string, std::string url, http::Headers headers,
                                                    std::string body, SteadyTime deadline) override {
    requests.push_back({url, std::move(headers), boost::json::parse(body).as_object()});
    last_body = std::move(body);
    last_deadline = deadline;
    const std::size_t slash = url.find('/', std::string_view("https://").size());
    const std::string path = url.substr(slash, url.find('?') - slash);
    const auto found = answers.find(path);
    if (found == answers.end()) co_return http::ClientError{http::ClientError::Code::kConnect, "no such server"};
    co_return found->second(requests.back());
  }
  Task<http::ClientResult<http::ClientResponse>> Stream(std::string, std::string, http::Headers, std::string,
                                                        std::function<Task<bool>(int, http::Headers)>, PieceFn,
                                                        SteadyTime) override {
    co_return http::ClientError{};
  }
  Task<http::ClientResult<Upgraded>> Upgrade(std::string, std::string, http::Headers, SteadyTime) override {
    co_return http::ClientError{};
  }

  std::map<std::string, Answer> answers;  // by path
  std::deque<Request> requests;
  std::string last_body;
  SteadyTime last_deadline{};
};

inline http::ClientResult<http::ClientResponse> Body(std::string body) {
  return http::ClientResponse{200, {}, std::move(body)};
}

/// Answers with these fields, the uid of the request and its version.
inline FakeServers::Answer Respond(const std::string& fields) {
  return [fields](const FakeServers::Request& request) {
    meta::json::object response = boost::json::parse(fields).as_object();
    response["uid"] = request.review.at("request").at("uid");
    return Body(boost::json::serialize(meta::json::object{
        {"kind", "AdmissionReview"}, {"apiVersion", request.review.at("apiVersion")}, {"response", response}}));
  };
}
/// Admits the request and changes the object with this JSON patch.
inline FakeServers::Answer Patch(const std::string& patch) {
  return Respond(fmt::format(R"({{"allowed":true,"patchType":"JSONPatch","patch":"{}"}})", EncodeBase64(patch)));
}
inline FakeServers::Answer Fail(http::ClientError::Code code, const std::string& message) {
  return [code, message](const FakeServers::Request&) -> http::ClientResult<http::ClientResponse> {
    return http::ClientError{code, message};
  };
}

/// One webhook for all requests, whose server has the path `/name`. `more` are further fields, with a comma in front.
inline std::string WebhookJson(const std::string& name, const std::string& more = "") {
  return fmt::format(
      R"({{"name":"{0}","clientConfig":{{"url":"https://hooks.test/{0}"}},"sideEffects":"None","timeoutSeconds":5,)"
      R"("admissionReviewVersions":["v1","v1beta1"],"failurePolicy":"Fail","matchPolicy":"Equivalent",)"
      R"("rules":[{{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*/*"]}}]{1}}})",
      name, more);
}
inline std::string ConfigurationJson(const std::string& name, const std::vector<std::string>& webhooks,
                                     const std::string& annotations = "{}") {
  return fmt::format(R"({{"metadata":{{"name":"{}","annotations":{}}},"webhooks":[{}]}})", name, annotations,
                     fmt::join(webhooks, ","));
}

/// A webhook plugin and everything that it needs.
class WebhookTest : public ::testing::Test {
 protected:
  WebhookTest() {
    inputs.objects = objects;
    inputs.clock = &clock;
    inputs.metrics = &metrics;
    inputs.http_client = [this](http::ClientOptions) { return servers; };
    versions.by_subresource[""] = {{{"apps", "v1", "deployments"}, {"apps", "v1", "Deployment"}},
                                   {{"apps", "v1beta1", "deployments"}, {"apps", "v1beta1", "Deployment"}}};
  }

  struct Result {
    std::string error;  // code and message
    meta::Object object;
    std::vector<std::string> warnings;
    std::map<std::string, std::string> annotations;
  };
  /// Creates a Deployment through the chain of the plugin.
  Result Create(std::unique_ptr<Plugin>& plugin, bool dry_run = false) {
    std::vector<Plugin*> plugins{plugin.get()};
    return CreateThrough(plugins, dry_run);
  }
  Result CreateThrough(const std::vector<Plugin*>& plugins, bool dry_run = false) {
    Result result;
    result.object = Parse(R"({"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"web","namespace":"ns"}})");
    Attributes attributes;
    attributes.kind = {"apps", "v1", "Deployment"};
    attributes.resource = {"apps", "v1", "deployments"};
    attributes.ns = "ns";
    attributes.name = "web";
    attributes.object = &result.object;
    attributes.dry_run = dry_run;
    attributes.versions = &versions;
    meta::RequestContext::State state;
    state.user = {.name = "jane", .uid = "7", .groups = {"a", "b"}, .extra = {{"k", {"v"}}}};
    state.deadline = deadline;
    const meta::RequestContext ctx(state);
    meta::Result<> admitted = testing::RunTask(context, Run(ctx, attributes, plugins));
    if (!admitted) result.error = fmt::format("{} {}", admitted.error().Code(), admitted.error().Message());
    result.warnings = ctx.Warnings();
    for (const auto& [key, value] : ctx.AuditAnnotations()) result.annotations[key] = value;
    return result;
  }

  boost::asio::io_context context{1};  // outlives the threads on which requests also run
  testing::ManualClock clock;
  service::Metrics metrics{clock};
  std::shared_ptr<FakeObjects> objects = std::make_shared<FakeObjects>();
  std::shared_ptr<FakeServers> servers = std::make_shared<FakeServers>();
  matching::FakeVersions versions;
  meta::RequestDeadline deadline;
  PluginInputs inputs;

 private:
  static Task<meta::Result<>> Pass(meta::RequestContext ctx, Attributes& attributes, std::vector<Plugin*> plugins) {
    for (Plugin* plugin : plugins) {
      if (!plugin->Handles(Phase::kMutate, attributes)) continue;
      CO_RETURN_IF_ERROR(co_await plugin->Mutate(ctx, attributes));
    }
    co_return meta::Result<>();
  }
  /// Does what Chain does, with plugins that the test still owns.
  static Task<meta::Result<>> Run(meta::RequestContext ctx, Attributes& attributes, std::vector<Plugin*> plugins) {
    Reinvocation reinvocation;
    attributes.reinvocation = &reinvocation;
    CO_RETURN_IF_ERROR(co_await Pass(ctx, attributes, plugins));
    reinvocation.second_pass = reinvocation.requested;
    if (reinvocation.second_pass) CO_RETURN_IF_ERROR(co_await Pass(ctx, attributes, plugins));
    for (Plugin* plugin : plugins) {
      if (!plugin->Handles(Phase::kValidate, attributes)) continue;
      CO_RETURN_IF_ERROR(co_await plugin->Validate(ctx, attributes));
    }
    co_return meta::Result<>();
  }
};

}  // namespace apimesh::admission::webhooks
