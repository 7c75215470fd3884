#include "services/launcher/commands/certs.h"

#include <filesystem>
#include <optional>
#include <vector>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "services/launcher/commands/kubeconfig.h"
#include "services/launcher/inspect/run_folder.h"
#include "services/launcher/options/advertise_address.h"
#include "services/launcher/pki/certificate.h"
#include "services/launcher/pki/certificate_folder.h"
#include "services/launcher/pki/cluster_pki.h"

namespace apimesh::launcher {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

int ReportNone(const RunFolder& folder) {
  fmt::print(stderr, "apimesh: there are no certificates in {}; ./apimesh up makes them\n", folder.Pki());
  return 1;
}

}  // namespace

int ShowCertificates(const std::string& path, bool as_json) {
  const RunFolder folder(path);
  const std::vector<fs::path> files = CertificatesIn(folder.Pki());
  if (files.empty()) return ReportNone(folder);
  json::array list;
  if (!as_json) fmt::print("{:<24} {:>10}\n", "CERTIFICATE", "DAYS LEFT");
  for (const fs::path& file : files) {
    const double days = RemainingDays(ReadFile(file));
    if (as_json) {
      list.push_back(json::object{{"file", file.string()}, {"daysLeft", days}});
    } else {
      fmt::print("{:<24} {:>10.0f}\n", file.stem().string(), days);
    }
  }
  if (as_json) fmt::print("{}\n", json::serialize(list));
  return 0;
}

int RotateCertificates(const std::string& path) {
  const RunFolder folder(path);
  if (CertificatesIn(folder.Pki()).empty()) return ReportNone(folder);
  const ClusterPki pki(folder.Pki());
  for (const std::string& name : pki.Ensure({FirstAddress()}, ClusterPki::Renew::kAll))
    fmt::print("renewed {}\n", name);
  // Without a running mesh, `apimesh up` writes the kubeconfig.
  if (const std::optional<RunFolder::State> state = folder.Read()) {
    WriteKubeconfig(folder.Kubeconfig(), state->server, pki);
    fmt::print("{} has the new certificate of the administrator; the old one stays valid until it expires.\n",
               folder.Kubeconfig());
  }
  return 0;
}

}  // namespace apimesh::launcher
