#include "services/launcher/commands/backup.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "services/launcher/inspect/run_folder.h"
#include "services/launcher/mesh/mesh_plan.h"
#include "services/launcher/process/run_program.h"

namespace apimesh::launcher {
namespace {

namespace fs = std::filesystem;

int Fail(const std::string& message) {
  fmt::print(stderr, "apimesh: {}\n", message);
  return 1;
}

/// Runs `store snapshot …` and waits for its end. Returns its exit code.
int RunSnapshotTool(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {OwnFolder() + "/store", "snapshot"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return RunProgram(words).exit_code;
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
  const std::string made = folder.Data() + ".restoring";
  fs::remove_all(made, error);  // of a restoration that was killed
  if (const int code = RunSnapshotTool({"restore", file, "--data-dir", made, "--bump-revision", kRevisionBump})) {
    fs::remove_all(made, error);
    return code;
  }
  try {
    const std::string kept = folder.ReplaceData(made, clock);
    if (!kept.empty()) fmt::print("The previous data is in {}; remove it when you do not need it any more.\n", kept);
  } catch (const std::exception& failure) {
    return Fail(failure.what());
  }
  fmt::print("Start the mesh: ./apimesh up --dir {}\n", folder.Root());
  return 0;
}

}  // namespace apimesh::launcher
