#include "lib/service/health.h"

#include <memory>
#include <set>

#include <boost/url/decode_view.hpp>
#include <boost/url/pct_string_view.hpp>

#include "lib/base/log.h"

namespace apimesh::service {
namespace {

struct EndpointName {
  std::string_view name;
  HealthChecks::Endpoint endpoint;
};
constexpr EndpointName kEndpoints[] = {
    {"livez", HealthChecks::kLivez}, {"readyz", HealthChecks::kReadyz}, {"healthz", HealthChecks::kHealthz}};

enum class Sniffing { kForbid, kAllow };

mesh::Response Text(int code, std::string body, Sniffing sniffing = Sniffing::kForbid) {
  mesh::Response response;
  response.code = code;
  response.headers.emplace_back("content-type", "text/plain; charset=utf-8");
  if (sniffing == Sniffing::kForbid) response.headers.emplace_back("x-content-type-options", "nosniff");
  response.body.emplace_back(std::move(body));
  return response;
}

struct Query {
  bool verbose = false;
  std::set<std::string> excluded;
};

std::string Decode(std::string_view text) {
  const auto checked = boost::urls::make_pct_string_view(text);
  if (!checked) return std::string(text);
  const boost::urls::decode_view decoded = **checked;
  return {decoded.begin(), decoded.end()};
}

Query ParseQuery(std::string_view text) {
  Query query;
  while (!text.empty()) {
    const std::string_view parameter = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), parameter.size() + 1));
    const std::size_t equals = std::min(parameter.find('='), parameter.size());
    const std::string_view key = parameter.substr(0, equals);
    if (key == "verbose") query.verbose = true;
    if (key == "exclude") query.excluded.insert(Decode(parameter.substr(std::min(parameter.size(), equals + 1))));
  }
  return query;
}

std::string Quoted(const std::set<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += fmt::format("{}\"{}\"", text.empty() ? "" : ",", name);
  return text;
}

}  // namespace

HealthChecks::HealthChecks() {
  Add("ping", [] { return std::string(); });
}

void HealthChecks::Add(std::string name, Check check, unsigned endpoints) {
  std::lock_guard lock(mutex_);
  checks_.push_back({std::move(name), std::move(check), endpoints});
}

std::function<void()> HealthChecks::AddPostStartHook(const std::string& name) {
  auto done = std::make_shared<std::atomic<bool>>(false);
  const Check check = [done] { return std::string(*done ? "" : "not finished"); };
  const std::lock_guard lock(mutex_);
  checks_.push_back({"poststarthook/" + name, check, kEverywhere, true});
  return [done] { *done = true; };
}

void HealthChecks::SetLivezGrace(const Clock& clock, SteadyTime end) {
  const std::lock_guard lock(mutex_);
  clock_ = &clock;
  livez_grace_end_ = end;
}

std::vector<HealthChecks::Named> HealthChecks::For(unsigned endpoint) const {
  std::vector<Named> found;
  {
    std::lock_guard lock(mutex_);
    const bool grace = endpoint == kLivez && clock_ && clock_->Steady() < livez_grace_end_;
    for (const auto& check : checks_) {
      if (!(check.endpoints & endpoint)) continue;
      found.push_back(check);
      if (grace && check.boot) found.back().check = [] { return std::string(); };
    }
  }
  if (endpoint == kReadyz) {
    auto shutdown = [this] { return std::string(stopping_ ? "process is shutting down" : ""); };
    found.push_back({"shutdown", shutdown, kReadyz});
  }
  return found;
}

std::optional<mesh::Response> HealthChecks::Answer(std::string_view path, std::string_view query) const {
  if (!path.starts_with('/')) return std::nullopt;
  path.remove_prefix(1);
  for (const auto& [name, endpoint] : kEndpoints) {
    if (path == name) return AnswerAll(name, endpoint, query);
    if (!path.starts_with(name) || path[name.size()] != '/') continue;
    for (const auto& check : For(endpoint)) {
      if (check.name != path.substr(name.size() + 1)) continue;
      const std::string problem = check.check();
      return problem.empty() ? Text(200, "ok", Sniffing::kAllow)
                             : Text(500, fmt::format("internal server error: {}\n", problem));
    }
  }
  return std::nullopt;
}

bool HealthChecks::Ready(std::string_view except) const {
  const std::vector<Named> checks = For(kReadyz);
  return std::all_of(checks.begin(), checks.end(),
                     [except](const Named& check) { return check.name == except || check.check().empty(); });
}

mesh::Response HealthChecks::AnswerAll(std::string_view name, unsigned endpoint, std::string_view text) const {
  const Query query = ParseQuery(text);
  std::set<std::string> unknown = query.excluded;
  std::string report;
  bool failed = false;
  for (const auto& check : For(endpoint)) {
    if (query.excluded.contains(check.name)) {
      unknown.erase(check.name);
      report += fmt::format("[+]{} excluded: ok\n", check.name);
      continue;
    }
    const std::string problem = check.check();
    if (problem.empty()) {
      report += fmt::format("[+]{} ok\n", check.name);
      continue;
    }
    failed = true;
    // Anyone may read this response; the reason is only logged and shown at the check's own path.
    report += fmt::format("[-]{} failed: reason withheld\n", check.name);
    log::Info("{} check {} failed: {}", name, check.name, problem);
  }
  if (!unknown.empty()) {
    report += fmt::format("warn: some health checks cannot be excluded: no matches for {}\n", Quoted(unknown));
  }
  if (failed) return Text(500, fmt::format("{}{} check failed\n", report, name));
  return Text(200, query.verbose ? fmt::format("{}{} check passed\n", report, name) : "ok");
}

}  // namespace apimesh::service
