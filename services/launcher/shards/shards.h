#pragma once

#include <map>
#include <string>
#include <vector>

#include "lib/base/clock.h"
#include "services/launcher/mesh/mesh_plan.h"
#include "services/launcher/process/supervisor.h"

/// API groups with processes of their own.
namespace apimesh::launcher::shards {

/// How many processes serve a group in addition to the common server.
struct ScaledGroup {
  std::string group;    // "core" is the group without a name
  std::string process;  // "core-api" or "extensions-api"
  int replicas = 0;
  int ready = 0;  // replicas to which the aggregator sends requests; not stored
};

/// The most replicas of one group.
inline constexpr int kMaxReplicas = 16;

/// Reads and writes the layout as JSON: {"groups": [{"group": "apps", "process": "core-api", "replicas": 2}]}. What
/// cannot be read is an empty layout.
std::vector<ScaledGroup> ReadLayout(const std::string& text);
std::string WriteLayout(const std::vector<ScaledGroup>& layout);

/// Keeps the processes of scaled groups running, and the file up to date from which the aggregator knows them. A
/// replica is listed when it is ready, and is stopped some time after it is no longer listed. Not thread-safe.
class Shards {
 public:
  /// `common` has the children that serve all groups, by process. `layout_file` keeps the layout between two runs.
  Shards(Supervisor& supervisor, std::map<std::string, ChildSpec> common, Paths paths, std::string layout_file,
         const Clock& clock);

  /// Changes the number of replicas of a group; 0 gives it back to the common server. Returns why it cannot be changed,
  /// or "".
  std::string Scale(const std::string& group, const std::string& process, int replicas);
  /// Starts, lists and stops replicas. Must be called every kTick while Busy().
  void Tick();
  bool Busy() const;
  std::vector<ScaledGroup> Layout() const;

  static constexpr std::chrono::milliseconds kTick{50};

 private:
  struct Replica {
    std::string name, group, process, socket, health_socket;
    bool listed = false;
    bool leaving = false;
    SteadyTime stop_at{};  // if it is leaving
  };
  const ScaledGroup* Wanted(const std::string& group) const;
  void Start(const ScaledGroup& group);
  void WriteList();

  Supervisor& supervisor_;
  const std::map<std::string, ChildSpec> common_;
  const Paths paths_;
  const std::string layout_file_;
  const Clock& clock_;
  std::vector<ScaledGroup> wanted_;
  std::vector<Replica> replicas_;
  int started_ = 0;  // numbers the sockets
  std::string written_;
};

/// Whether GET /readyz at a Unix socket is answered with 200. Waits at most a second.
bool IsReady(const std::string& health_socket);

}  // namespace apimesh::launcher::shards
