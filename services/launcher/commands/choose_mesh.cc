#include "services/launcher/commands/choose_mesh.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "services/launcher/inspect/run_folder.h"
#include "services/launcher/mesh/mesh_plan.h"

namespace apimesh::launcher {
namespace {

namespace fs = std::filesystem;
constexpr const char* kLink = "run-folder";

/// Returns whether this user owns the path. The parent folder may be /tmp, where other users can create folders of any
/// name.
bool IsOwn(const fs::path& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0 && info.st_uid == ::geteuid();
}

}  // namespace

void LinkRunFolder(const std::string& socket_folder, const std::string& run_folder) {
  fs::create_directory_symlink(run_folder, fs::path(socket_folder) / kLink);
}

std::vector<std::string> RunningMeshes() {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(SocketFolderParent(), error)) {
    if (!entry.path().filename().string().starts_with(kSocketFolderPrefix) || !IsOwn(entry.path())) continue;
    const fs::path folder = fs::read_symlink(entry.path() / kLink, error);
    if (!error && RunFolder(folder).Read()) found.push_back(folder.string());
  }
  // Removes duplicates: a launcher that was killed leaves its socket folder behind, and the next mesh in the same run
  // folder has another one.
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::optional<std::string> ChooseMesh(const std::string& given) {
  if (!given.empty()) return given;
  const std::string usual = DefaultRunFolder();
  const char* variable = std::getenv("APIMESH_DIR");
  if ((variable && *variable) || RunFolder(usual).Read()) return usual;
  const std::vector<std::string> running = RunningMeshes();
  if (running.empty()) return usual;
  if (running.size() == 1) return running[0];
  fmt::print(stderr, "apimesh: {} meshes are running; choose one:\n", running.size());
  for (const std::string& folder : running) {
    const std::optional<RunFolder::State> state = RunFolder(folder).Read();
    fmt::print(stderr, "  --dir {}   {}\n", folder, state ? state->server : "");
  }
  return std::nullopt;
}

}  // namespace apimesh::launcher
