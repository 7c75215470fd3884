#include "services/launcher/commands/backup.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "services/launcher/inspect/run_folder.h"
#include "services/launcher/mesh/mesh_plan.h"

namespace apimesh::launcher {
namespace {

namespace fs = std::filesystem;

/// More revisions than a cluster can write between a backup and its restoration, as etcd recommends.
constexpr const char* kRevisionBump = "1000000000";

int Fail(const std::string& message) {
  fmt::print(stderr, "apimesh: {}\n", message);
  return 1;
}

/// Runs `store snapshot …` and waits for its end. Returns its exit code.
int RunSnapshotTool(const std::vector<std::string>& arguments) {
  const std::string binary = OwnFolder() + "/store";
  std::vector<const char*> argv = {binary.c_str(), "snapshot"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  argv.push_back(nullptr);
  std::fflush(nullptr);
  const pid_t pid = ::fork();
  if (pid < 0) return Fail(fmt::format("fork: {}", std::strerror(errno)));
  if (pid == 0) {
    ::execv(binary.c_str(), const_cast<char**>(argv.data()));
    fmt::print(stderr, "apimesh: {}: {}\n", binary, std::strerror(errno));
    ::_exit(127);
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace

int Backup(const std::string& path, const std::string& file) {
  const RunFolder folder(path);
  const std::optional<RunFolder::State> state = folder.Read();
  if (!state) return Fail(fmt::format("no mesh runs in {}; start it first: ./apimesh up", folder.Root()));
  const auto store = std::find_if(state->processes.begin(), state->processes.end(),
                                  [](const RunFolder::Process& process) { return process.name == "store"; });
  if (store == state->processes.end())
    return Fail("this mesh has its own etcd; save it with: etcdctl --endpoints URL snapshot save FILE");
  constexpr std::string_view kSocket = "unix:";
  return RunSnapshotTool({"save", file, "--endpoints", "unix://" + store->listens.substr(kSocket.size())});
}

int Restore(const std::string& path, const std::string& file, const Clock& clock) {
  RunFolder folder(path);
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return Fail(fmt::format("there is no file {}", file));
  if (!folder.Lock()) return Fail(fmt::format("the mesh in {} runs; stop it first: ./apimesh down", folder.Root()));
  // The new data is complete before the old is moved, so that a failure changes nothing.
  const auto now = std::chrono::duration_cast<std::chrono::seconds>(clock.Now().time_since_epoch()).count();
  const std::string made = fmt::format("{}.restored-{}", folder.Data(), now);
  const std::string kept = fmt::format("{}.before-{}", folder.Data(), now);
  if (const int code = RunSnapshotTool({"restore", file, "--data-dir", made, "--bump-revision", kRevisionBump})) {
    fs::remove_all(made, error);
    return code;
  }
  if (fs::is_empty(folder.Data(), error)) {
    fs::remove(folder.Data(), error);
  } else {
    fs::rename(folder.Data(), kept, error);
    if (error) return Fail(fmt::format("cannot move {}: {}", folder.Data(), error.message()));
    fmt::print("The previous data is in {}; remove it when you do not need it any more.\n", kept);
  }
  fs::rename(made, folder.Data(), error);
  if (error) return Fail(fmt::format("cannot move {} to {}: {}", made, folder.Data(), error.message()));
  fmt::print("Start the mesh: ./apimesh up --dir {}\n", folder.Root());
  return 0;
}

}  // namespace apimesh::launcher
