#pragma once

#include <string>
#include <vector>

#include "services/launcher/flags/flag_parser.h"
#include "services/launcher/process/child.h"

namespace apimesh::launcher {

/// Where things are on this machine.
struct Places {
  std::string binaries;  // folder of aggregator, core-api, …
  std::string sockets;   // 0700 folder of the Unix sockets between the services
  std::string logs;      // folder of log files; empty: the launcher's standard error
  bool own_groups = false;
};

/// The four services for a checked kube-apiserver command line, in start order. `flags` has the serving certificate set.
/// `front_proxy`: Envoy is in front, and has ways in of its own (FrontProxySocket, and for watches FrontProxyH2Socket).
std::vector<ChildSpec> PlanServices(const CommandLine& flags, const Places& places, bool front_proxy);

/// Where Envoy finds the aggregator: the only door that believes what is said of a client's certificate.
std::string FrontProxySocket(const Places& places);
std::string FrontProxyH2Socket(const Places& places);

/// A fresh folder for sockets, 0700. Throws std::runtime_error.
std::string MakeSocketFolder();
void RemoveSocketFolder(const std::string& folder);

/// The folder that this program's own binary is in.
std::string OwnFolder();

}  // namespace apimesh::launcher
