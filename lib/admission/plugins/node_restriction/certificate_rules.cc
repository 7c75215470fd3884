#include "lib/admission/plugins/node_restriction/certificate_rules.h"

#include "lib/admission/plugins/node_restriction/refuse.h"
#include "lib/base/text/base64.h"
#include "lib/credentials/certificate_request.h"

namespace apimesh::admission::node_restriction {

meta::Result<> CheckSigningRequest(const std::string& node, const Attributes& attributes) {
  if (attributes.operation != Operation::kCreate) return {};
  const meta::json::object& root = attributes.object->Root();
  const std::string_view signer = meta::FindString(root, "spec", "signerName");
  if (signer != "kubernetes.io/kubelet-serving" && signer != "kubernetes.io/kube-apiserver-client-kubelet") return {};
  std::string pem;
  if (DecodeBase64(meta::FindString(root, "spec", "request"), pem)) pem.clear();
  const meta::Result<credentials::CertificateRequest> parsed = credentials::ParseCertificateRequest(pem);
  if (!parsed) return Forbidden(attributes, "unable to parse csr: " + parsed.error().Message());
  if (parsed->common_name == "system:node:" + node) return {};
  return Refuse(attributes, "can only create a node CSR with CN=system:node:{}", node);
}

}  // namespace apimesh::admission::node_restriction
