#include "lib/admission/plugins/node_restriction/certificate_rules.h"

#include "lib/admission/plugins/node_restriction/refuse.h"
#include "lib/base/text/base64.h"
#include "lib/credentials/certificate_request.h"
#include "lib/meta/errors/field_error.h"
#include "lib/meta/errors/other_errors.h"

namespace apimesh::admission::node_restriction {
namespace {

using meta::FindString;
using meta::Quoted;

/// Reads an object that a request names. An object that does not exist is no refusal, because it may just have been
/// created; the client may try again.
Task<meta::Result<meta::Object>> ReadNamed(meta::RequestContext ctx, const ClusterReader& reader,
                                           const Attributes& attributes, ReadResource resource, std::string ns,
                                           std::string name, std::string_view what) {
  const std::string shown = ns.empty() ? name : ns + "/" + name;
  meta::Result<meta::Object> found = co_await reader.Get(ctx, resource, std::move(ns), std::move(name));
  if (found) co_return found;
  const std::string message = fmt::format("while retrieving {} {} named in the PodCertificateRequest: {}", what,
                                          Quoted(shown), found.error().Message());
  if (found.error().Is(meta::Reason::kNotFound)) co_return meta::PlainError(message);
  co_return Forbidden(attributes, message);
}

}  // namespace

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

Task<meta::Result<>> CheckPodCertificateRequest(meta::RequestContext ctx, const ClusterReader& reader, std::string node,
                                                const Attributes& attributes) {
  if (attributes.operation != Operation::kCreate)
    co_return Refuse(attributes, "unexpected operation {}", ToString(attributes.operation));
  if (!attributes.subresource.empty())
    co_return Refuse(attributes, "unexpected subresource {}", attributes.subresource);
  const auto asked = [&attributes](const char* field) {
    return std::string(FindString(attributes.object->Root(), "spec", field));
  };
  const std::string ns = attributes.ns, node_name = asked("nodeName"), pod_name = asked("podName"),
                    account_name = asked("serviceAccountName");
  if (node_name != node) {
    co_return Refuse(attributes, "PodCertificateRequest.Spec.NodeName={}, which is not the requesting node {}",
                     Quoted(node_name), Quoted(node));
  }
  ASSIGN_OR_CO_RETURN(const meta::Object its_node,
                      co_await ReadNamed(ctx, reader, attributes, kNodes, "", node_name, "node"));
  const std::string pod_text = Quoted(ns + "/" + pod_name);
  // Different UIDs may be those of an object that was replaced and is not cached yet.
  if (its_node.Uid() != asked("nodeUID")) {
    co_return meta::PlainError(
        fmt::format("PodCertificateRequest for pod {} names node UID {}, inconsistent with the running node ({})",
                    pod_text, Quoted(asked("nodeUID")), Quoted(its_node.Uid())));
  }
  ASSIGN_OR_CO_RETURN(const meta::Object pod, co_await ReadNamed(ctx, reader, attributes, kPods, ns, pod_name, "pod"));
  if (pod.Uid() != asked("podUID")) {
    co_return meta::PlainError(
        fmt::format("PodCertificateRequest for pod {} contains pod UID ({}) which differs from running pod {}",
                    pod_text, Quoted(asked("podUID")), Quoted(pod.Uid())));
  }
  if (FindString(pod.Root(), "spec", "nodeName") != node_name) {
    co_return Refuse(attributes, "pod {} is not running on node {} named in the PodCertificateRequest", pod_text,
                     Quoted(node_name));
  }
  if (pod.Annotation("kubernetes.io/config.mirror")) co_return Refuse(attributes, "pod {} is a mirror pod", pod_text);
  if (const std::string_view its_account = FindString(pod.Root(), "spec", "serviceAccountName");
      its_account != account_name) {
    co_return Refuse(attributes,
                     "PodCertificateRequest for pod {} contains serviceAccountName ({}) that differs from running pod "
                     "({})",
                     pod_text, Quoted(account_name), Quoted(its_account));
  }
  ASSIGN_OR_CO_RETURN(const meta::Object account, co_await ReadNamed(ctx, reader, attributes, kServiceAccounts, ns,
                                                                     account_name, "service account"));
  if (account.Uid() != asked("serviceAccountUID")) {
    co_return meta::PlainError(fmt::format(
        "PodCertificateRequest for pod {} names service account UID {}, which differs from the running service account "
        "({})",
        pod_text, Quoted(asked("serviceAccountUID")), Quoted(account.Uid())));
  }
  co_return meta::Result<>();
}

}  // namespace apimesh::admission::node_restriction
