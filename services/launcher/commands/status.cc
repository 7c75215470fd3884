#include "services/launcher/commands/status.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <thread>

#include "services/launcher/commands/run_folder.h"
#include "services/launcher/process/child.h"

namespace apimesh::launcher {
namespace {

namespace json = boost::json;

std::string Age(std::int64_t since) {
  const std::int64_t seconds = std::max<std::int64_t>(std::time(nullptr) - since, 0);
  if (seconds < 120) return fmt::format("{}s", seconds);
  if (seconds < 7200) return fmt::format("{}m", seconds / 60);
  return fmt::format("{}h", seconds / 3600);
}

void PrintJson(const RunFolder::State& state) {
  json::array processes;
  for (const RunFolder::Process& process : state.processes) {
    processes.push_back(json::object{{"name", process.name}, {"pid", process.pid}, {"running", process.pid != 0},
                                     {"restarts", process.restarts}, {"rssKilobytes", ResidentKilobytes(process.pid)},
                                     {"listens", process.listens}});
  }
  fmt::print("{}\n", json::serialize(json::object{{"ready", state.ready}, {"server", state.server}, {"launcher", state.launcher},
                                                   {"processes", std::move(processes)}}));
}

void PrintTable(const RunFolder& folder, const RunFolder::State& state) {
  fmt::print("\n  {:<16} {:<9} {:>8} {:>6} {:>9} {:>9}  {}\n", "SERVICE", "STATE", "PID", "AGE", "RESTARTS", "MEMORY", "LISTENS ON");
  long total = 0;
  for (const RunFolder::Process& process : state.processes) {
    const long memory = ResidentKilobytes(process.pid);
    total += memory;
    fmt::print("  {:<16} {:<9} {:>8} {:>6} {:>9} {:>6} MB  {}\n", process.name, process.pid ? "running" : "down", process.pid,
               process.pid ? Age(process.started) : "-", process.restarts, memory / 1024, process.listens);
  }
  fmt::print("\n  {} at {}, {} MB in all; files in {}\n", state.ready ? "Ready" : "Starting", state.server, total / 1024, folder.Root());
  fmt::print("  Next: ./apimesh kubectl get namespaces\n        export KUBECONFIG={}\n        ./apimesh down\n\n", folder.Kubeconfig());
}

}  // namespace

int ShowStatus(const std::string& path, bool as_json) {
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
    PrintJson(*state);
  } else {
    PrintTable(folder, *state);
  }
  std::fflush(stdout);
  return state->ready ? 0 : 1;
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
  fmt::print(stderr, "apimesh: the launcher (pid {}) does not stop; kill it by hand\n", state->launcher);
  return 1;
}

int Logs(const std::string& path, const std::string& service, bool follow) {
  const RunFolder folder(path);
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder.Logs(), error)) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() == ".log" && (service.empty() || name == service)) files.push_back(entry.path().string());
  }
  if (files.empty()) {
    fmt::print(stderr, "apimesh: no log of {} in {}\n", service.empty() ? "any service" : service, folder.Logs());
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
  fmt::print(stderr, "apimesh: kubectl: {}; install it (Debian: kubernetes-client), or use any client with KUBECONFIG={}\n",
             std::strerror(errno), folder.Kubeconfig());
  return 127;
}

}  // namespace apimesh::launcher
