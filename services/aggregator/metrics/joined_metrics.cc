#include "services/aggregator/metrics/joined_metrics.h"

#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

namespace apimesh::aggregator {
namespace {

constexpr std::chrono::seconds kTimeout{2};

struct Family {
  std::string text;
  std::unordered_set<std::string> series;
};

/// "# HELP name …" and "# TYPE name …": the name; "" for anything else.
std::string_view NameInComment(std::string_view line) {
  if (!line.starts_with("# HELP ") && !line.starts_with("# TYPE ")) return {};
  line.remove_prefix(7);
  return line.substr(0, line.find(' '));
}

/// "name{a="b"} 1" or "name 1": all but the value. A label's value may have spaces, the value itself has none.
std::string_view SeriesOf(std::string_view line) { return line.substr(0, line.rfind(' ')); }

std::string WithLabel(std::string_view line, std::string_view process) {
  const std::size_t end = std::min(line.find_first_of("{ "), line.size());
  const bool labelled = line.substr(end).starts_with('{');
  return fmt::format("{}{{process=\"{}\"{}{}", line.substr(0, end), process, labelled ? "," : "}", line.substr(end + (labelled ? 1 : 0)));
}

}  // namespace

std::string JoinMetrics(const std::vector<ProcessMetrics>& processes) {
  std::vector<std::string> order;
  std::unordered_map<std::string, Family> families;
  for (const auto& [process, text] : processes) {
    Family* family = nullptr;
    bool known = false;  // its head is there
    bool of_process = false;
    for (std::string_view rest = text; !rest.empty();) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      const std::string_view line = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (line.empty()) continue;
      if (line.starts_with('#')) {
        const std::string_view name = NameInComment(line);
        if (name.empty()) continue;
        const auto [found, added] = families.try_emplace(std::string(name));
        if (added) order.emplace_back(name);
        if (family != &found->second) known = !added;
        family = &found->second;
        of_process = name.starts_with("process_") && process != processes.front().first;
        if (!known) family->text.append(line).append("\n");
        continue;
      }
      if (family == nullptr) continue;  // nobody says what it is
      const std::string written = of_process ? WithLabel(line, process) : std::string(line);
      if (family->series.emplace(SeriesOf(written)).second) family->text.append(written).append("\n");
    }
  }
  std::string joined;
  for (const std::string& name : order) joined += families[name].text;
  return joined;
}

Task<std::string> CollectMetrics(std::string own, RoutesPtr routes, std::shared_ptr<Authority> authority) {
  std::vector<ProcessMetrics> all;
  all.emplace_back("aggregator", std::move(own));
  for (const Delegate& delegate : routes->delegates) {
    if (delegate.kind != Delegate::Kind::kChain || !delegate.up) continue;
    rpc::Request request;
    request.method = "GET";
    request.path = "/metrics";
    request.deadline = std::chrono::steady_clock::now() + kTimeout;
    const rpc::Response response = co_await delegate.client->Call(std::move(request));
    if (response.code == 200) all.emplace_back(delegate.name, response.Text());
  }
  std::string more = co_await authority->Metrics();
  all.emplace_back("authn-authz", std::move(more));
  co_return JoinMetrics(all);
}

}  // namespace apimesh::aggregator
