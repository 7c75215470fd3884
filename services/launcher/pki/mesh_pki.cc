#include "services/launcher/pki/mesh_pki.h"

#include "lib/mesh/identity.h"

namespace apimesh::launcher {
namespace {

/// The certificates and files that a process needs.
struct Process {
  std::string_view name;
  bool serves_mesh;  // other processes connect to this one
  bool uses_etcd;
  std::vector<std::string_view> files;  // files of the cluster's folder
};

const std::vector<Process>& Processes() {
  static const std::vector<Process> all = {
      {mesh::kAggregator,
       true,
       true,
       {"ca.crt", "apiserver.crt", "apiserver.key", "front-proxy-ca.crt", "front-proxy-client.crt",
        "front-proxy-client.key"}},
      {mesh::kCoreApi, true, true, {"ca.crt", "front-proxy-ca.crt", "sa.pub", "sa.key"}},
      {mesh::kExtensionsApi, true, true, {}},
      {mesh::kAuthnAuthz, true, false, {"ca.crt", "front-proxy-ca.crt", "sa.pub"}},
      {mesh::kEnvoy, false, false, {"ca.crt", "apiserver.crt", "apiserver.key"}},
  };
  return all;
}

CertificateRequest Client(std::string_view name) {
  CertificateRequest request;
  request.common_name = name;
  request.client_auth = true;
  return request;
}

CertificateRequest Member(const Process& process, const std::vector<std::string>& names) {
  CertificateRequest request = process.serves_mesh ? ServingRequest(names) : CertificateRequest();
  request.common_name = process.name;
  request.client_auth = true;
  request.uri = mesh::IdentityOf(process.name);
  return request;
}

}  // namespace

std::vector<std::string> EnsureMeshPki(const ClusterPki& cluster, const std::vector<std::string>& names) {
  CertificateFolder authorities(cluster.Folder());
  const CertifiedKey mesh = authorities.Authority("mesh-ca", "apimesh-mesh-ca");
  const CertifiedKey etcd = authorities.Authority("etcd-ca", "apimesh-etcd-ca");
  std::vector<std::string> written = authorities.Written();
  const auto add = [&written](std::string_view process, const CertificateFolder& folder) {
    for (const std::string& name : folder.Written()) written.push_back(std::string(process) + "/" + name);
  };
  for (const Process& process : Processes()) {
    CertificateFolder folder(cluster.Folder() / process.name);
    folder.Copy(cluster.Path("mesh-ca.crt"), false);
    folder.Leaf("mesh", Member(process, names), mesh);
    if (process.uses_etcd) {
      folder.Copy(cluster.Path("etcd-ca.crt"), false);
      folder.Leaf("etcd", Client(process.name), etcd);
    }
    for (const std::string_view file : process.files) folder.Copy(cluster.Folder() / file, file.ends_with(".key"));
    add(process.name, folder);
  }
  CertificateFolder store(cluster.Folder() / "store");
  CertificateRequest server = ServingRequest(names);
  server.common_name = "store";
  store.Copy(cluster.Path("etcd-ca.crt"), false);
  store.Leaf("etcd", server, etcd);
  add("store", store);
  return written;
}

}  // namespace apimesh::launcher
