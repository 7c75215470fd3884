#pragma once

#include <string>
#include <vector>

#include "services/launcher/flags/flag_parser.h"
#include "services/launcher/process/child.h"

namespace apimesh::launcher {

/// Paths on this machine.
struct Paths {
  std::string binaries;  // folder of aggregator, core-api, …
  std::string sockets;   // 0700 folder of the Unix sockets between the services
  std::string logs;      // folder of log files; empty: the launcher's standard error
  bool own_groups = false;
  bool shards = false;  // the aggregator follows ShardsFile(), which must exist when it starts
};

/// Returns the four services for a checked kube-apiserver command line, in start order. `flags` must contain the
/// serving certificate. `front_proxy`: Envoy is in front of the aggregator, which then has separate listeners for it
/// (FrontProxySocket, and FrontProxyH2Socket for watches).
std::vector<ChildSpec> PlanServices(const CommandLine& flags, const Paths& paths, bool front_proxy);

/// Return the sockets of the aggregator's listeners for Envoy. Only these listeners trust forwarded information about a
/// client's certificate.
std::string FrontProxySocket(const Paths& paths);
std::string FrontProxyH2Socket(const Paths& paths);

/// Returns a replica of `common`, which PlanServices() has returned, that serves one API group as a shard. `address`
/// and `health_address` are its listeners.
ChildSpec PlanShard(const ChildSpec& common, const Paths& paths, std::string name, const std::string& group,
                    const std::string& address, const std::string& health_address);

/// Returns the file that lists the shards for the aggregator.
std::string ShardsFile(const Paths& paths);

/// Returns the file of flag values that the aggregator reads; see flag_values.h. It must be written before the services
/// start.
std::string FlagValuesFile(const Paths& paths);

/// Returns the parent of socket folders: $XDG_RUNTIME_DIR or /tmp. Their names begin with kSocketFolderPrefix.
std::string SocketFolderParent();
inline constexpr const char* kSocketFolderPrefix = "apimesh-";

/// Creates a folder for sockets with mode 0700. Throws std::runtime_error.
std::string MakeSocketFolder();
void RemoveSocketFolder(const std::string& folder);

/// Returns the folder of this program's binary.
std::string OwnFolder();

}  // namespace apimesh::launcher
