#include "services/launcher/commands/top.h"

#include <chrono>
#include <csignal>
#include <thread>

#include <boost/json.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "services/launcher/inspect/load.h"
#include "services/launcher/inspect/run_folder.h"

namespace apimesh::launcher {
namespace {

namespace json = boost::json;

volatile std::sig_atomic_t interrupted = 0;

void OnInterrupt(int) { interrupted = 1; }

/// Waits for `seconds`; returns false if the user interrupts it.
bool Wait(int seconds) {
  for (int tenth = 0; tenth < seconds * 10 && !interrupted; ++tenth) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return !interrupted;
}

std::string Milliseconds(double seconds) {
  const double milliseconds = seconds * 1000;
  return milliseconds < 10 ? fmt::format("{:.1f} ms", milliseconds) : fmt::format("{:.0f} ms", milliseconds);
}

void PrintText(const RunFolder::State& state, const Load& load, const LoadRates& rates, int interval) {
  fmt::print("\n  {} at {}; per second, over {} s\n\n", state.ready ? "Ready" : "Starting", state.server, interval);
  fmt::print("  {:<16} {:>8} {:>8} {:>9}\n", "PROCESS", "PID", "CPU", "MEMORY");
  for (const LoadRates::Process& process : rates.processes) {
    fmt::print("  {:<16} {:>8} {:>6.1f} % {:>6} MB\n", process.name, process.pid, process.cpu_percent,
               process.memory_kilobytes / 1024);
  }
  if (!load.answered) {
    fmt::print("\n  The API does not answer; ./apimesh logs aggregator may say why.\n");
    return;
  }
  fmt::print("\n  {:<40} {:>9} {:>8} {:>9} {:>9} {:>8}\n", "GROUP", "REQUESTS", "ERRORS", "P50", "P99", "WATCHES");
  for (const LoadRates::Group& group : rates.groups) {
    fmt::print("  {:<40} {:>9.1f} {:>8.1f} {:>9} {:>9} {:>8.0f}\n", group.name, group.requests, group.errors,
               Milliseconds(group.p50), Milliseconds(group.p99), group.watches);
  }
  fmt::print("\n");
}

void PrintJson(const RunFolder::State& state, const Load& load, const LoadRates& rates) {
  json::array processes, groups;
  for (const LoadRates::Process& process : rates.processes) {
    processes.push_back(json::object{{"name", process.name},
                                     {"pid", process.pid},
                                     {"cpuPercent", process.cpu_percent},
                                     {"rssKilobytes", process.memory_kilobytes}});
  }
  for (const LoadRates::Group& group : rates.groups) {
    groups.push_back(json::object{{"group", group.name},
                                  {"requestsPerSecond", group.requests},
                                  {"errorsPerSecond", group.errors},
                                  {"p50Seconds", group.p50},
                                  {"p99Seconds", group.p99},
                                  {"watches", group.watches}});
  }
  fmt::print("{}\n", json::serialize(json::object{{"ready", state.ready},
                                                  {"answered", load.answered},
                                                  {"processes", std::move(processes)},
                                                  {"groups", std::move(groups)}}));
}

}  // namespace

int Top(const TopOptions& options, const Clock& clock) {
  const RunFolder folder(options.folder);
  std::optional<RunFolder::State> state = folder.Read();
  if (!state) {
    fmt::print(stderr, "Nothing runs in {}. Start it with: ./apimesh up --dir {}\n", folder.Root(), options.folder);
    return 3;
  }
  std::signal(SIGINT, OnInterrupt);
  const bool replaces = !options.as_json && !options.once && ::isatty(STDOUT_FILENO) == 1;
  Load before = ReadLoad(folder, *state, clock);
  while (Wait(options.interval)) {
    state = folder.Read();
    if (!state) {
      fmt::print(stderr, "The mesh in {} has stopped.\n", folder.Root());
      return 3;
    }
    Load now = ReadLoad(folder, *state, clock);
    const LoadRates rates = Rates(before, now);
    if (replaces) fmt::print("\x1b[H\x1b[2J");
    if (options.as_json) {
      PrintJson(*state, now, rates);
    } else {
      PrintText(*state, now, rates, options.interval);
    }
    std::fflush(stdout);
    if (options.once) return 0;
    before = std::move(now);
  }
  return 0;
}

}  // namespace apimesh::launcher
