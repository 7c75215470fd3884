#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace apimesh::launcher {

/// DIR of `apimesh up`: what is where, and the state that `status`, `down` and `logs` read.
class RunFolder {
 public:
  explicit RunFolder(std::filesystem::path root) : root_(std::filesystem::absolute(std::move(root))) {}

  std::string Root() const { return root_.string(); }
  std::string Pki() const { return (root_ / "pki").string(); }
  std::string Logs() const { return (root_ / "logs").string(); }
  std::string Data() const { return (root_ / "data").string(); }
  std::string Kubeconfig() const { return (root_ / "kubeconfig").string(); }
  std::string EnvoyFile() const { return (root_ / "envoy.json").string(); }

  /// Makes the folders and takes the lock that keeps a second `up` away. False: somebody runs here already.
  bool Lock();

  struct Process {
    std::string name;
    pid_t pid = 0;
    int restarts = 0;
    std::int64_t started = 0;  // seconds since 1970
    std::string listens;
  };
  struct State {
    pid_t launcher = 0;
    std::string server;  // https://…
    bool ready = false;
    std::vector<Process> processes;
  };
  void Write(const State& state) const;
  /// nullopt if nothing runs in this folder.
  std::optional<State> Read() const;

 private:
  std::filesystem::path root_;
};

/// $APIMESH_DIR, else .apimesh in the current folder.
std::string DefaultRunFolder();

}  // namespace apimesh::launcher
