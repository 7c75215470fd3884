#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "lib/base/clock.h"
#include "services/launcher/inspect/run_folder.h"

namespace apimesh::launcher {

/// Counters of a mesh at one time. Rates are differences of two.
struct Load {
  struct Process {
    std::string name;
    pid_t pid = 0;
    double cpu_seconds = 0;
    long memory_kilobytes = 0;
  };
  /// Counters of the requests for one API group.
  struct Group {
    double requests = 0;
    double errors = 0;  // status 5xx
    double watches = 0;
    std::map<double, double> finished_within;  // upper limit in seconds -> requests, without watches
  };

  SteadyTime time;
  std::vector<Process> processes;
  std::map<std::string, Group> groups;  // "core" is the group without a name; "(paths)" has requests for no resource
  bool answered = false;                // the mesh has returned its metrics
};

/// Reads the counters of a running mesh: processes from /proc, groups from its metrics.
Load ReadLoad(const RunFolder& folder, const RunFolder::State& state, const Clock& clock);

/// Reads the counters of groups from a text in the format of Prometheus.
std::map<std::string, Load::Group> ReadGroups(std::string_view metrics);

/// What happened between two readings, per second.
struct LoadRates {
  struct Process {
    std::string name;
    pid_t pid = 0;
    double cpu_percent = 0;  // of one core
    long memory_kilobytes = 0;
  };
  struct Group {
    std::string name;
    double requests = 0, errors = 0, watches = 0;  // `watches` is the current number
    double p50 = 0, p99 = 0;                       // seconds; estimated from a histogram
  };
  std::vector<Process> processes;
  std::vector<Group> groups;  // the one with the most requests first; groups without requests and watches are omitted
};
LoadRates Rates(const Load& before, const Load& after);

}  // namespace apimesh::launcher
