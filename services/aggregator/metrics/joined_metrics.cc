#include "services/aggregator/metrics/joined_metrics.h"

#include <cstdlib>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "services/aggregator/metrics/mesh_metrics.h"
#include "services/aggregator/metrics/stability.h"

namespace apimesh::aggregator {
namespace {

constexpr std::chrono::seconds kTimeout{2};

struct Series {
  std::string name, value;
};
struct Family {
  std::string head;
  bool adds_up = false;  // a counter or a histogram
  std::vector<Series> series;
  std::unordered_map<std::string, std::size_t> index;  // by name
};

/// The metrics about metrics.
std::string Totals(const std::vector<std::string>& shown, const MetricRules& rules) {
  std::map<std::string_view, int> by_stability;
  for (const std::string& name : shown) ++by_stability[StabilityOf(name)];
  std::string text;
  if (!rules.Disabled("disabled_metrics_total"))
    text += fmt::format(
        "# HELP disabled_metrics_total Metrics that --disabled-metrics leaves out.\n"
        "# TYPE disabled_metrics_total counter\ndisabled_metrics_total {}\n",
        rules.DisabledCount());
  if (rules.Disabled("registered_metrics_total")) return text;
  text +=
      "# HELP registered_metrics_total Metrics by their stability.\n"
      "# TYPE registered_metrics_total counter\n";
  for (const auto& [stability, count] : by_stability)
    text += fmt::format("registered_metrics_total{{deprecated_version=\"\",stability_level=\"{}\"}} {}\n", stability,
                        count);
  return text;
}

double Number(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

void Add(Family& family, std::string_view line) {
  const std::size_t space = line.rfind(' ');  // label values may contain spaces, the number does not
  Series series{std::string(line.substr(0, space)), std::string(line.substr(std::min(space, line.size() - 1) + 1))};
  const auto [known, added] = family.index.emplace(series.name, family.series.size());
  if (added) {
    family.series.push_back(std::move(series));
  } else if (family.adds_up) {
    std::string& value = family.series[known->second].value;
    value = fmt::format("{}", Number(value) + Number(series.value));
  }
}

/// Returns the name in "# HELP name …" and "# TYPE name …", or "" for other lines.
std::string_view NameInComment(std::string_view line) {
  if (!line.starts_with("# HELP ") && !line.starts_with("# TYPE ")) return {};
  line.remove_prefix(7);
  return line.substr(0, line.find(' '));
}

std::string WithLabel(std::string_view line, std::string_view process) {
  const std::size_t end = std::min(line.find_first_of("{ "), line.size());
  const bool labelled = line.substr(end).starts_with('{');
  return fmt::format("{}{{process=\"{}\"{}{}", line.substr(0, end), process, labelled ? "," : "}",
                     line.substr(end + (labelled ? 1 : 0)));
}

}  // namespace

std::string JoinMetrics(const std::vector<ProcessMetrics>& processes, const MetricRules& rules) {
  std::vector<std::string> order;
  std::unordered_map<std::string, Family> families;
  for (const auto& [process, text] : processes) {
    Family* family = nullptr;
    bool known = false;  // the family already has HELP and TYPE lines
    bool of_process = false;
    std::string_view family_name;
    for (std::string_view rest = text; !rest.empty();) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      const std::string_view line = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (line.empty()) continue;
      if (line.starts_with('#')) {
        const std::string_view name = NameInComment(line);
        if (name.empty()) continue;
        family_name = name;
        if (rules.Disabled(name)) {
          family = nullptr;
          continue;
        }
        const auto [found, added] = families.try_emplace(std::string(name));
        if (added) order.emplace_back(name);
        if (family != &found->second) known = !added;
        family = &found->second;
        of_process = name.starts_with("process_") && process != processes.front().first;
        if (!known) family->head.append(line).append("\n");
        if (line.starts_with("# TYPE ")) family->adds_up = line.ends_with(" counter") || line.ends_with(" histogram");
        continue;
      }
      if (family == nullptr) continue;  // a series without HELP or TYPE is dropped
      const std::string constrained = rules.Constrain(family_name, line);
      Add(*family, of_process ? WithLabel(constrained, process) : constrained);
    }
  }
  std::string joined;
  for (const std::string& name : order) {
    const Family& family = families[name];
    joined += family.head;
    for (const Series& series : family.series) joined.append(series.name).append(" ").append(series.value).append("\n");
  }
  return joined + Totals(order, rules);
}

Task<std::string> CollectMetrics(std::string own, RoutesPtr routes, std::shared_ptr<Authority> authority,
                                 std::shared_ptr<const MetricRules> rules, const Clock& clock) {
  std::vector<ProcessMetrics> all;
  all.emplace_back("aggregator", std::move(own));
  for (const Delegate& delegate : routes->delegates) {
    if (!delegate.OtherProcess() || !delegate.up) continue;
    mesh::Request request;
    request.method = "GET";
    request.path = "/metrics";
    request.deadline = clock.Steady() + kTimeout;
    const mesh::Response response = co_await delegate.client->Call(std::move(request));
    if (response.code == 200) all.emplace_back(delegate.name, response.Text());
  }
  std::string more = co_await authority->Metrics();
  all.front().second += DescribeMesh(*routes, !more.empty());
  all.emplace_back("authn-authz", std::move(more));
  co_return JoinMetrics(all, *rules);
}

}  // namespace apimesh::aggregator
