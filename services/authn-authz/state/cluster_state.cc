#include "services/authn-authz/state/cluster_state.h"

#include "lib/base/log.h"
#include "services/authn-authz/state/graph_sinks.h"
#include "services/authn-authz/state/rbac_sinks.h"

namespace apimesh::authn_authz {
namespace {

constexpr std::string_view kRbacGroup = "/apis/rbac.authorization.k8s.io/v1/";

}  // namespace

ClusterState::ClusterState(std::shared_ptr<mesh::DelegateClient> core_api, Wanted wanted,
                           std::shared_ptr<Revisions> revisions, const Clock& clock)
    : core_api_(std::move(core_api)),
      clock_(clock),
      revisions_(std::move(revisions)),
      tokens_(std::make_shared<TokenObjectCache>(
          core_api_, [revisions = revisions_] { revisions->Bump(true, false); }, clock)) {
  if (wanted.report_legacy_token) {
    tokens_->ReportLegacyTokens(std::make_shared<LegacyTokenUses>(std::move(wanted.report_legacy_token), clock));
  }
  // Until the first lists are loaded, no answer is based on them.
  const auto rbac_changed = [revisions = revisions_, loaded = loaded_] {
    if (*loaded) revisions->Bump(false, true);
  };
  if (wanted.rbac) {
    for (const bool cluster : {true, false}) {
      const std::string prefix = cluster ? "cluster" : "";
      Add({fmt::format("{}{}roles", kRbacGroup, prefix)}, NewRoleSink(rbac_, cluster, rbac_changed));
      Add({fmt::format("{}{}rolebindings", kRbacGroup, prefix)}, NewBindingSink(rbac_, cluster, rbac_changed));
    }
  }
  if (wanted.tokens) {
    Add({"/api/v1/serviceaccounts"}, tokens_->NewSink(TokenObjectKind::kServiceAccount));
    Add({"/api/v1/secrets", "fieldSelector=type%3Dkubernetes.io%2Fservice-account-token"},
        tokens_->NewSink(TokenObjectKind::kSecret, "kubernetes.io/service-account-token"));
    Add({"/api/v1/nodes"}, tokens_->NewSink(TokenObjectKind::kNode));
  }
  if (wanted.bootstrap_tokens) {
    Add({"/api/v1/namespaces/kube-system/secrets", "fieldSelector=type%3Dbootstrap.kubernetes.io%2Ftoken"},
        tokens_->NewSink(TokenObjectKind::kSecret, "bootstrap.kubernetes.io/token"));
  }
  std::unique_ptr<mesh::ObjectSink> pods;
  if (wanted.tokens) pods = tokens_->NewSink(TokenObjectKind::kPod);
  if (wanted.node_graph) {
    auto graph = NewGraphSink(graph_, GraphKind::kPod);
    pods = pods ? NewTeeSink(std::move(pods), std::move(graph)) : std::move(graph);
  }
  // Changes of pods are frequent, and few of them are relevant here.
  if (pods) Add({.path = "/api/v1/pods", .grouped = true}, std::move(pods));
  if (wanted.node_graph) {
    Add({"/api/v1/persistentvolumes"}, NewGraphSink(graph_, GraphKind::kPersistentVolume));
    Add({.path = "/apis/storage.k8s.io/v1/volumeattachments", .optional = true},
        NewGraphSink(graph_, GraphKind::kVolumeAttachment));
    Add({.path = "/apis/resource.k8s.io/v1/resourceslices", .optional = true},
        NewGraphSink(graph_, GraphKind::kResourceSlice));
    if (wanted.pod_certificates) {
      Add({.path = "/apis/certificates.k8s.io/v1beta1/podcertificaterequests", .optional = true},
          NewGraphSink(graph_, GraphKind::kPodCertificateRequest));
    }
  }
}

ClusterState::~ClusterState() { Stop(); }

void ClusterState::Add(mesh::ResourceWatch::Source source, std::unique_ptr<mesh::ObjectSink> sink) {
  source.user_agent = kUserAgent;
  watches_.push_back(std::make_shared<mesh::ResourceWatch>(
      core_api_, std::move(source), std::move(sink), [this] { Check(); }, clock_));
}

void ClusterState::Start(boost::asio::any_io_executor executor) {
  Check();
  for (const auto& watch : watches_) {
    const auto ended = [path = watch->Path()](std::exception_ptr error) {
      if (!error) return;
      try {
        std::rethrow_exception(error);
      } catch (const std::exception& e) {
        log::Error("watching {} ended: {}", path, e.what());
      }
    };
    boost::asio::co_spawn(executor, watch->Run(), ended);
  }
}

void ClusterState::Stop() {
  for (const auto& watch : watches_) watch->Stop();
}

void ClusterState::Check() {
  for (const auto& watch : watches_) {
    if (!watch->Loaded()) return;
  }
  if (loaded_->exchange(true)) return;
  // Earlier answers were based on an empty state.
  revisions_->Bump(true, true);
  if (on_loaded_) on_loaded_();
}

std::string ClusterState::WhyNotLoaded() const {
  std::vector<std::string> missing;
  for (const auto& watch : watches_) {
    if (watch->Loaded()) continue;
    const std::string problem = watch->Problem();
    missing.push_back(problem.empty() ? watch->Path() : fmt::format("{} ({})", watch->Path(), problem));
  }
  return missing.empty() ? "" : fmt::format("not loaded yet: {}", fmt::join(missing, ", "));
}

}  // namespace apimesh::authn_authz
