#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "lib/base/clock.h"

namespace apimesh::launcher {

/// The DIR of `apimesh up`: its paths, and the state that `status`, `down` and `logs` read.
class RunFolder {
 public:
  explicit RunFolder(const std::filesystem::path& root) : root_(std::filesystem::absolute(root)) {}

  std::string Root() const { return root_.string(); }
  std::string Pki() const { return (root_ / "pki").string(); }
  std::string Logs() const { return (root_ / "logs").string(); }
  std::string Data() const { return (root_ / "data").string(); }
  std::string Kubeconfig() const { return (root_ / "kubeconfig").string(); }
  /// The file that `./apimesh descriptions` writes; optional.
  std::string Descriptions() const { return (root_ / "descriptions.txt").string(); }
  /// The scaled API groups, which the next `up` starts again.
  std::string Layout() const { return (root_ / "groups.json").string(); }
  std::string EnvoyFile() const { return (root_ / "envoy.json").string(); }

  /// Creates the folders and acquires the lock that prevents a second `up`. Returns false if a mesh already runs in
  /// this folder.
  bool Lock();

  /// Returns true once in the life of the folder.
  bool TakeFirstStart() const;

  /// Puts the folder `made` in place of the data. Returns the path at which the previous data is kept, or "" if there
  /// was none. The caller holds the lock. Throws std::runtime_error, and then nothing has changed.
  std::string ReplaceData(const std::string& made, const Clock& clock);

  struct Process {
    std::string name;
    pid_t pid = 0;
    int restarts = 0;
    std::int64_t started = 0;  // seconds since 1970
    std::string listens;
  };
  /// An API group with processes of its own.
  struct ScaledGroup {
    std::string group, process;
    int replicas = 0, ready = 0;
  };
  struct State {
    pid_t launcher = 0;
    std::string server;  // https://…
    bool ready = false;
    std::vector<Process> processes;
    std::string control = {};  // the socket of the launcher
    std::vector<ScaledGroup> groups = {};
  };
  void Write(const State& state) const;
  /// Returns nullopt if no mesh runs in this folder.
  std::optional<State> Read() const;

 private:
  std::filesystem::path root_;
};

/// Returns $APIMESH_DIR, or .apimesh in the current folder.
std::string DefaultRunFolder();

}  // namespace apimesh::launcher
