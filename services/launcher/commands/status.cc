#include "services/launcher/commands/status.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include <boost/json.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <unistd.h>

#include "services/launcher/commands/console.h"
#include "services/launcher/inspect/failing_webhooks.h"
#include "services/launcher/inspect/run_folder.h"
#include "services/launcher/process/child.h"

namespace apimesh::launcher {
namespace {

namespace json = boost::json;

std::string Age(std::int64_t since, std::int64_t now) {
  const std::int64_t seconds = std::max<std::int64_t>(now - since, 0);
  if (seconds < 120) return fmt::format("{}s", seconds);
  if (seconds < 7200) return fmt::format("{}m", seconds / 60);
  return fmt::format("{}h", seconds / 3600);
}

void PrintJson(const RunFolder& folder, const RunFolder::State& state) {
  json::array webhooks;
  for (const FailingWebhook& webhook : FindFailingWebhooks(folder, state)) {
    webhooks.push_back(json::object{{"name", webhook.name},
                                    {"configuration", webhook.configuration},
                                    {"mutating", webhook.mutating},
                                    {"failurePolicy", webhook.rejects ? "Fail" : "Ignore"},
                                    {"failingSeconds", webhook.seconds}});
  }
  json::array processes;
  for (const RunFolder::Process& process : state.processes) {
    processes.push_back(json::object{{"name", process.name},
                                     {"pid", process.pid},
                                     {"running", process.pid != 0},
                                     {"restarts", process.restarts},
                                     {"rssKilobytes", ResidentKilobytes(process.pid)},
                                     {"listens", process.listens}});
  }
  json::array groups;
  for (const RunFolder::ScaledGroup& one : state.groups) {
    groups.push_back(
        json::object{{"group", one.group}, {"process", one.process}, {"replicas", one.replicas}, {"ready", one.ready}});
  }
  fmt::print("{}\n", json::serialize(json::object{{"ready", state.ready},
                                                  {"server", state.server},
                                                  {"launcher", state.launcher},
                                                  {"processes", std::move(processes)},
                                                  {"groups", std::move(groups)},
                                                  {"failingWebhooks", std::move(webhooks)}}));
}

void PrintGroups(const RunFolder::State& state) {
  fmt::print("\n  {:<32} {:<16} {:>8}  {}\n", "GROUP WITH OWN PROCESSES", "PROGRAM", "REPLICAS", "READY");
  for (const RunFolder::ScaledGroup& one : state.groups)
    fmt::print("  {:<32} {:<16} {:>8}  {}\n", one.group, one.process, one.replicas, one.ready);
}

void PrintTable(const RunFolder& folder, const RunFolder::State& state, const Clock& clock) {
  const std::int64_t now = std::chrono::system_clock::to_time_t(clock.Now());
  fmt::print("\n  {:<16} {:<9} {:>8} {:>6} {:>9} {:>9}  {}\n", "SERVICE", "STATE", "PID", "AGE", "RESTARTS", "MEMORY",
             "LISTENS ON");
  long total = 0;
  for (const RunFolder::Process& process : state.processes) {
    const long memory = ResidentKilobytes(process.pid);
    total += memory;
    fmt::print("  {:<16} {:<9} {:>8} {:>6} {:>9} {:>6} MB  {}\n", process.name, process.pid ? "running" : "down",
               process.pid, process.pid ? Age(process.started, now) : "-", process.restarts, memory / 1024,
               process.listens);
  }
  if (!state.groups.empty()) PrintGroups(state);
  fmt::print("\n  {} at {}, {} MB in all; files in {}\n\n", state.ready ? "Ready" : "Starting", state.server,
             total / 1024, folder.Root());
  for (const FailingWebhook& webhook : FindFailingWebhooks(folder, state)) fmt::print("  {}\n\n", webhook.Describe());
}

}  // namespace

int ShowStatus(const std::string& path, bool as_json, const Clock& clock) {
  const RunFolder folder(path);
  const std::optional<RunFolder::State> state = folder.Read();
  if (!state) {
    if (as_json) {
      fmt::print("{{\"ready\":false,\"processes\":[]}}\n");
    } else {
      fmt::print("Nothing runs in {}. Start it with: ./apimesh up --dir {}\n", folder.Root(), path);
    }
    return 3;
  }
  if (as_json) {
    PrintJson(folder, *state);
  } else {
    PrintTable(folder, *state, clock);
  }
  std::fflush(stdout);
  return state->ready ? 0 : 1;
}

int ShowStarted(const std::string& path, const Clock& clock) {
  const int code = ShowStatus(path, false, clock);
  const RunFolder folder(path);
  const std::optional<RunFolder::State> state = folder.Read();
  for (std::size_t i = 0; state && i < state->processes.size(); ++i) {
    if (state->processes[i].name == "console")
      fmt::print("  Console: {}\n\n", ConsoleUrl(folder, state->processes[i].listens, clock));
  }
  if (!folder.TakeFirstStart()) return code;
  // Without --dir, these commands use the default folder of the current directory.
  const std::string dir = folder.Root() == RunFolder(DefaultRunFolder()).Root() ? "" : " --dir " + folder.Root();
  fmt::print("  Next: ./apimesh kubectl{} get namespaces\n        export KUBECONFIG={}\n        ./apimesh down{}\n\n",
             dir, folder.Kubeconfig(), dir);
  std::fflush(stdout);
  return code;
}

int Down(const std::string& path) {
  const std::optional<RunFolder::State> state = RunFolder(path).Read();
  if (!state) {
    fmt::print("Nothing runs in {}.\n", RunFolder(path).Root());
    return 0;
  }
  ::kill(state->launcher, SIGTERM);
  for (int tenth = 0; tenth < 900; ++tenth) {
    if (::kill(state->launcher, 0) != 0) {
      fmt::print("Stopped.\n");
      return 0;
    }
    if (tenth % 50 == 49) fmt::print(stderr, "waiting for the mesh to stop ({} s)\n", tenth / 10 + 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  fmt::print(stderr, "apimesh: the launcher (pid {}) does not stop; {}/launcher.log says why, `kill -9 {}` ends it\n",
             state->launcher, RunFolder(path).Logs(), state->launcher);
  return 1;
}

int Logs(const std::string& path, const std::string& service, bool follow) {
  const RunFolder folder(path);
  std::vector<std::string> files, names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder.Logs(), error)) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() != ".log") continue;
    names.push_back(name);
    if (service.empty() || name == service) files.push_back(entry.path().string());
  }
  if (names.empty()) {
    fmt::print(stderr, "apimesh: there are no logs in {}; start the mesh first: ./apimesh up --dir {}\n", folder.Logs(),
               folder.Root());
    return 1;
  }
  if (files.empty()) {
    std::sort(names.begin(), names.end());
    fmt::print(stderr, "apimesh: there is no log of \"{}\"; the logs in {} are those of: {}\n", service, folder.Logs(),
               fmt::join(names, ", "));
    return 1;
  }
  std::vector<const char*> arguments = {"tail", "-n", "200"};
  if (follow) arguments.push_back("-F");
  for (const std::string& file : files) arguments.push_back(file.c_str());
  arguments.push_back(nullptr);
  ::execvp("tail", const_cast<char**>(arguments.data()));
  fmt::print(stderr, "apimesh: tail: {}\n", std::strerror(errno));
  return 1;
}

int Kubectl(const std::string& path, const std::vector<std::string>& arguments) {
  const RunFolder folder(path);
  if (!std::filesystem::exists(folder.Kubeconfig())) {
    fmt::print(stderr, "apimesh: no kubeconfig in {}; start the mesh first: ./apimesh up\n", folder.Root());
    return 1;
  }
  ::setenv("KUBECONFIG", folder.Kubeconfig().c_str(), 1);
  std::vector<const char*> argv = {"kubectl"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  argv.push_back(nullptr);
  ::execvp("kubectl", const_cast<char**>(argv.data()));
  fmt::print(stderr,
             "apimesh: kubectl: {}; install it (Debian: kubernetes-client), or use any client with KUBECONFIG={}\n",
             std::strerror(errno), folder.Kubeconfig());
  return 127;
}

}  // namespace apimesh::launcher
