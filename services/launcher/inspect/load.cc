#include "services/launcher/inspect/load.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>

#include <fmt/format.h>
#include <unistd.h>

#include "services/launcher/inspect/metrics_text.h"
#include "services/launcher/inspect/probe.h"
#include "services/launcher/process/child.h"

namespace apimesh::launcher {
namespace {

/// Returns the CPU time of all threads of a process in seconds; 0 if there is no such process.
double CpuSeconds(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  const std::string stat{std::istreambuf_iterator<char>(file), {}};
  const std::size_t name_end = stat.rfind(')');  // the name of the program may contain spaces
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(stat.substr(name_end + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  double user = 0, system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

std::string GroupOf(const MetricSample& sample) {
  std::string group = sample.Label("group");
  if (!group.empty()) return group;
  return sample.Label("resource").empty() ? "(paths)" : "core";
}

/// Returns the time within which a part `share` of the requests between two readings has finished. Interpolates within
/// the bucket of the histogram, as histogram_quantile() of Prometheus does.
double Quantile(const Load::Group& before, const Load::Group& after, double share) {
  const auto count = [&before](const auto& bucket) {
    const auto old = before.finished_within.find(bucket.first);
    return bucket.second - (old == before.finished_within.end() ? 0 : old->second);
  };
  if (after.finished_within.empty()) return 0;
  const double wanted = share * count(*after.finished_within.rbegin());
  double lower = 0, below = 0;
  for (const auto& bucket : after.finished_within) {
    const double within = count(bucket);
    if (within >= wanted && within > 0) {
      if (bucket.first == std::numeric_limits<double>::infinity()) return lower;
      return within == below ? bucket.first : lower + (bucket.first - lower) * (wanted - below) / (within - below);
    }
    lower = bucket.first;
    below = within;
  }
  return 0;
}

}  // namespace

std::map<std::string, Load::Group> ReadGroups(std::string_view metrics) {
  std::map<std::string, Load::Group> groups;
  ForEachSample(metrics, [&groups](const MetricSample& sample) {
    if (sample.name == "apiserver_request_total") {
      if (sample.Label("verb") == "WATCH") return;  // counted when it ends
      Load::Group& group = groups[GroupOf(sample)];
      group.requests += sample.value;
      if (sample.Label("code").starts_with('5')) group.errors += sample.value;
    } else if (sample.name == "apiserver_request_duration_seconds_bucket") {
      if (sample.Label("verb") == "WATCH") return;
      const std::string limit = sample.Label("le");
      const double seconds = limit == "+Inf" ? std::numeric_limits<double>::infinity() : std::atof(limit.c_str());
      groups[GroupOf(sample)].finished_within[seconds] += sample.value;
    } else if (sample.name == "apiserver_longrunning_requests" && sample.Label("verb") == "WATCH") {
      groups[GroupOf(sample)].watches += sample.value;
    }
  });
  return groups;
}

Load ReadLoad(const RunFolder& folder, const RunFolder::State& state, const Clock& clock) {
  Load load;
  load.time = clock.Steady();
  for (const RunFolder::Process& process : state.processes) {
    load.processes.push_back({process.name, process.pid, CpuSeconds(process.pid), ResidentKilobytes(process.pid)});
  }
  const std::optional<Address> server = ParseServer(state.server);
  if (!state.ready || !server) return load;
  const ClientCertificate administrator{folder.Pki() + "/admin.crt", folder.Pki() + "/admin.key"};
  const std::string metrics = HttpsBody(server->host, server->port, "/metrics", administrator);
  load.answered = !metrics.empty();
  load.groups = ReadGroups(metrics);
  return load;
}

LoadRates Rates(const Load& before, const Load& after) {
  const double seconds = std::max(std::chrono::duration<double>(after.time - before.time).count(), 0.001);
  LoadRates rates;
  for (const Load::Process& process : after.processes) {
    const auto same = std::find_if(before.processes.begin(), before.processes.end(),
                                   [&process](const Load::Process& other) { return other.pid == process.pid; });
    const double cpu = same == before.processes.end() ? process.cpu_seconds : process.cpu_seconds - same->cpu_seconds;
    rates.processes.push_back({process.name, process.pid, 100 * cpu / seconds, process.memory_kilobytes});
  }
  for (const auto& [name, group] : after.groups) {
    const auto old = before.groups.find(name);
    // The counters begin at zero again when the aggregator restarts.
    const bool continues = old != before.groups.end() && old->second.requests <= group.requests;
    const Load::Group& base = continues ? old->second : Load::Group();
    const double requests = (group.requests - base.requests) / seconds;
    if (requests == 0 && group.watches == 0) continue;
    rates.groups.push_back({name, requests, (group.errors - base.errors) / seconds, group.watches,
                            Quantile(base, group, 0.5), Quantile(base, group, 0.99)});
  }
  std::stable_sort(rates.groups.begin(), rates.groups.end(),
                   [](const auto& a, const auto& b) { return a.requests > b.requests; });
  return rates;
}

}  // namespace apimesh::launcher
