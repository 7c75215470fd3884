#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "lib/mesh/delegate/delegate.h"
#include "services/aggregator/auth/authority.h"

namespace apimesh::aggregator {

/// A fake server of the chain. Answers "<name> <method> <path>?<query> as <user>".
class FakeDelegate final : public mesh::DelegateClient {
 public:
  explicit FakeDelegate(std::string name) : name_(std::move(name)) {}

  /// Sets the description; nullopt simulates that the server is down.
  void Describe(std::optional<mesh::Description> description) {
    description_ = description;
    if (changed_) changed_(std::move(description));
  }
  std::vector<mesh::Request> Requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  std::map<std::string, mesh::Response> answers;  // by path; must not change during a test
  /// Events that a stream sends before it waits to be cancelled.
  std::vector<std::string> events;

  Task<mesh::Response> Call(mesh::Request&& request) override {
    if (!description_) co_return mesh::Response::Error(meta::ServiceUnavailable(name_ + " is down", 1));
    if (request.path.starts_with("/readyz") || request.path.starts_with("/healthz") ||
        request.path.starts_with("/livez")) {
      co_return mesh::Response::Error(meta::GenericNotFound());  // has no health checks
    }
    Remember(request);
    if (const auto found = answers.find(request.path); found != answers.end()) co_return found->second;
    co_return mesh::Response::Json(
        200, name_ + " " + request.method + " " + request.path + "?" + request.query + " as " + request.user.name);
  }
  Task<> Stream(mesh::Request request, mesh::ResponseStream& stream) override {
    if (events.empty() && request.info.verb != meta::Verb::kWatch) {
      mesh::Response response = co_await Call(std::move(request));
      co_await stream.WriteComplete(std::move(response));
      co_return;
    }
    Remember(request);
    boost::asio::steady_timer ended(co_await boost::asio::this_coro::executor, std::chrono::hours(1));
    auto executor = ended.get_executor();
    stream.OnCancel([&ended, executor] { boost::asio::dispatch(executor, [&ended] { ended.cancel(); }); });
    mesh::Headers headers;
    headers.emplace_back("content-type", "application/json");
    co_await stream.WriteHead(200, std::move(headers));
    for (const std::string& event : events) {
      std::vector<SharedBytes> pieces;
      pieces.emplace_back(event);
      co_await stream.Write(std::move(pieces));
    }
    if (request.info.verb != meta::Verb::kWatch) co_return;
    try {
      co_await ended.async_wait(boost::asio::use_awaitable);
    } catch (const boost::system::system_error&) {}
  }
  Task<mesh::Connection> Connect(mesh::Request request) override {
    Remember(request);
    mesh::Connection refused;
    refused.head = mesh::Response::Error(meta::BadRequest("no upgrade here"));
    co_return refused;
  }
  std::shared_ptr<void> Describe(std::function<void(std::optional<mesh::Description>)> changed) override {
    changed_ = std::move(changed);
    changed_(description_);
    return nullptr;
  }

 private:
  void Remember(const mesh::Request& request) {
    const std::lock_guard lock(mutex_);
    requests_.push_back(request);
  }

  std::string name_;
  std::function<void(std::optional<mesh::Description>)> changed_;
  std::optional<mesh::Description> description_;
  mutable std::mutex mutex_;
  std::vector<mesh::Request> requests_;
};

/// A fake authn-authz. Tokens are user names; "bad" is refused. Users may do what is in `allowed` ("user verb
/// resource-or-path"); "admin" may do everything.
class FakeAuthority final : public Authority {
 public:
  std::set<std::string> allowed;
  std::atomic<bool> available{true};
  std::atomic<int> authentications{0}, authorizations{0};
  std::chrono::milliseconds cache_for{0};
  std::int64_t revision = 1;
  std::vector<std::string> last_certificates;
  std::vector<std::pair<std::string, std::string>> last_headers;

  Task<AuthenticationAnswer> Authenticate(AuthenticationQuestion question) override {
    ++authentications;
    AuthenticationAnswer answer;
    if (!available) co_return answer;
    last_certificates = question.certificates_der;
    last_headers = question.headers;
    std::string name = "system:anonymous";
    for (const auto& [key, value] : question.headers) {
      if (key == "authorization") name = value.substr(std::string("Bearer ").size());
    }
    answer.outcome =
        name == "bad" ? AuthenticationAnswer::Outcome::kRefused : AuthenticationAnswer::Outcome::kAuthenticated;
    meta::UserInfo user;
    user.name = name;
    answer.user = MakeUser(std::move(user));
    answer.cache_for = cache_for;
    answer.revision = revision;
    co_return answer;
  }
  Task<AuthorizationAnswer> Authorize(AuthorizationQuestion question) override {
    ++authorizations;
    AuthorizationAnswer answer;
    if (!available) co_return answer;
    const auto& info = question.info;
    const std::string what = info.is_resource_request ? info.resource : info.path;
    const std::string& user = question.user->info.name;
    const bool ok = user == "admin" || allowed.contains(user + " " + std::string(info.verb.Text()) + " " + what);
    answer.verdict = ok ? AuthorizationAnswer::Verdict::kAllow : AuthorizationAnswer::Verdict::kDeny;
    answer.cache_for = cache_for;
    answer.revision = revision;
    co_return answer;
  }
  Task<meta::Result<service::AccessRules>> Rules(meta::UserInfo, std::string, SteadyTime) override {
    co_return service::AccessRules();
  }
  Task<std::string> Metrics() override { co_return ""; }
  Task<mesh::Response> Diagnose(mesh::Request) override { co_return mesh::Response(); }
};

inline mesh::GroupVersionPtr DescribeVersion(std::string group, std::string version, std::string resource,
                                             int priority = 100) {
  mesh::GroupVersionDescription gv;
  gv.group = group;
  gv.version = version;
  gv.group_priority_minimum = priority;
  gv.version_priority = 10;
  gv.resource_list = R"({"kind":"APIResourceList","groupVersion":")" +
                     (group.empty() ? version : group + "/" + version) + R"(","resources":[{"name":")" + resource +
                     R"("}]})";
  gv.aggregated_discovery =
      R"({"version":")" + version + R"(","resources":[{"resource":")" + resource + R"("}],"freshness":"Current"})";
  gv.openapi_v3_hash = "H" + version;
  return std::make_shared<const mesh::GroupVersionDescription>(std::move(gv));
}

}  // namespace apimesh::aggregator
