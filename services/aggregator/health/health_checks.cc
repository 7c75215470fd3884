#include "services/aggregator/health/health_checks.h"

#include <set>

#include "lib/base/log.h"
#include "lib/meta/field_error.h"
#include "lib/meta/query.h"

namespace apimesh::aggregator {
namespace {

bool Applies(const HealthChecks::On& on, std::string_view root) {
  return root == "healthz" ? on.healthz : root == "livez" ? on.livez : on.readyz;
}

}  // namespace

void HealthChecks::Add(std::string name, On on, Check check) { entries_.push_back({std::move(name), on, std::move(check)}); }

HealthChecks::Answer HealthChecks::Run(std::string_view path, std::string_view query) const {
  path.remove_prefix(1);
  const std::size_t slash = path.find('/');
  const std::string_view root = path.substr(0, slash);
  const std::string_view single = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  if (!single.empty()) {
    for (const Entry& entry : entries_) {
      if (entry.name != single || !Applies(entry.on, root)) continue;
      const std::string wrong = entry.check();
      if (wrong.empty()) return {200, "ok"};
      return {500, fmt::format("internal server error: {}\n", wrong)};
    }
    return {404, "404 page not found\n"};
  }
  const meta::QueryParameters parameters(query);
  std::set<std::string> excluded;
  for (const std::string& name : parameters.All("exclude")) excluded.insert(name);
  std::set<std::string> unknown = excluded;
  std::string report, failed;
  for (const Entry& entry : entries_) {
    if (!Applies(entry.on, root)) continue;
    if (excluded.contains(entry.name)) {
      unknown.erase(entry.name);
      report += fmt::format("[+]{} excluded: ok\n", entry.name);
    } else if (const std::string wrong = entry.check(); wrong.empty()) {
      report += fmt::format("[+]{} ok\n", entry.name);
    } else {
      report += fmt::format("[-]{} failed: reason withheld\n", entry.name);
      failed += fmt::format(" {}: {};", entry.name, wrong);
    }
  }
  if (!unknown.empty()) {
    std::string names;
    for (const std::string& name : unknown) names += (names.empty() ? "" : ",") + meta::Quoted(name);
    report += fmt::format("warn: some health checks cannot be excluded: no matches for {}\n", names);
  }
  if (!failed.empty()) {
    log::Info("{} check failed:{}", root, failed);
    return {500, fmt::format("{}{} check failed\n", report, root)};
  }
  if (!parameters.First("verbose")) return {200, "ok"};
  return {200, fmt::format("{}{} check passed\n", report, root)};
}

std::vector<std::string> HealthChecks::Paths() const {
  std::vector<std::string> paths;
  for (const std::string_view root : {"healthz", "livez", "readyz"}) {
    paths.push_back(fmt::format("/{}", root));
    for (const Entry& entry : entries_) {
      if (Applies(entry.on, root)) paths.push_back(fmt::format("/{}/{}", root, entry.name));
    }
  }
  return paths;
}

}  // namespace apimesh::aggregator
