#include "services/core-api/bootstrap/policies.h"

#include <functional>
#include <map>

#include <fmt/format.h>

#include "lib/base/log.h"
#include "services/core-api/bootstrap/data.h"
#include "services/core-api/bootstrap/rbac_reconcile.h"

namespace apimesh::core_api {
namespace {

constexpr std::string_view kRbac = "/apis/rbac.authorization.k8s.io/v1/";
constexpr int kAttempts = 5;

struct Change {
  meta::Object object;
  bool recreate = false;
};
using Reconcile = std::function<std::optional<Change>(const meta::Object& existing, const meta::Object& wanted)>;

/// Creates or updates one object, whose current state is `existing`. If another replica writes it at the same time, the
/// object is read and compared again, up to kAttempts times.
Task<> EnsureOne(LocalApiPtr api, std::string plural, meta::Object wanted, std::optional<meta::Object> existing,
                 Reconcile reconcile) {
  const std::string collection = CollectionPath(wanted, plural);
  const std::string path = fmt::format("{}/{}", collection, wanted.Name());
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    meta::Result<meta::Object> written = meta::Object();
    if (!existing) {
      written = co_await api->Create(collection, wanted);
    } else {
      std::optional<Change> change = reconcile(*existing, wanted);
      if (!change) co_return;
      log::Info("reconciling {}", path);
      if (change->recreate) {
        co_await api->Delete(path);
        written = co_await api->Create(collection, std::move(change->object));
      } else {
        written = co_await api->Update(path, std::move(change->object));
      }
    }
    if (written) co_return;
    if (!written.error().Is(meta::Reason::kAlreadyExists) && !written.error().Is(meta::Reason::kConflict) &&
        !written.error().Is(meta::Reason::kNotFound)) {
      log::Error("start-up object {}: {}", path, written.error().Message());
      co_return;
    }
    meta::Result<meta::Object> now = co_await api->Get(path);
    existing = now ? std::optional(std::move(*now)) : std::nullopt;
  }
}

Task<> EnsureAll(LocalApiPtr api, std::string list_path, std::string plural, std::vector<meta::Object> objects,
                 Reconcile reconcile) {
  meta::Result<std::vector<meta::Object>> listed = co_await api->List(std::move(list_path));
  if (!listed) {
    log::Error("listing {} at start: {}", plural, listed.error().Message());
    co_return;
  }
  std::map<std::string, meta::Object> existing;
  for (meta::Object& object : *listed) {
    std::string key = fmt::format("{}/{}", object.Namespace(), object.Name());
    existing.emplace(std::move(key), std::move(object));
  }
  std::vector<Task<>> tasks;
  for (meta::Object& wanted : objects) {
    const auto found = existing.find(fmt::format("{}/{}", wanted.Namespace(), wanted.Name()));
    std::optional<meta::Object> present;
    if (found != existing.end()) {
      present = std::move(found->second);
      present->SetGvk(wanted.GetGvk());
      if (!reconcile(*present, wanted)) continue;
    }
    tasks.push_back(EnsureOne(api, plural, std::move(wanted), std::move(present), reconcile));
  }
  co_await api->Together(std::move(tasks));
}

std::optional<Change> RoleChange(const meta::Object& existing, const meta::Object& wanted) {
  std::optional<meta::Object> object = ReconcileRole(existing, wanted);
  return object ? std::optional(Change{std::move(*object)}) : std::nullopt;
}
std::optional<Change> BindingChangeOf(const meta::Object& existing, const meta::Object& wanted) {
  std::optional<BindingChange> change = ReconcileBinding(existing, wanted);
  return change ? std::optional(Change{std::move(change->object), change->recreate}) : std::nullopt;
}
std::optional<Change> FlowControlChange(const meta::Object& existing, const meta::Object& wanted) {
  std::optional<meta::Object> object = ReconcileFlowControl(existing, wanted);
  return object ? std::optional(Change{std::move(*object)}) : std::nullopt;
}
std::optional<Change> Never(const meta::Object&, const meta::Object&) { return std::nullopt; }

}  // namespace

std::optional<meta::Object> ReconcileFlowControl(const meta::Object& existing, const meta::Object& wanted) {
  constexpr std::string_view kAnnotation = "apf.kubernetes.io/autoupdate-spec";
  const bool mandatory = wanted.Name() == "exempt" || wanted.Name() == "catch-all";
  const meta::json::string* mode = existing.Annotation(kAnnotation);
  // An object without the annotation is updated as long as its spec was never changed.
  if (!mandatory && (mode ? *mode != "true" : existing.Generation() > 1)) return std::nullopt;
  const meta::json::value* spec = meta::FindField(wanted.Root(), "spec");
  const meta::json::value* owned = meta::FindField(existing.Root(), "spec");
  if (spec && owned && *spec == *owned && mode) return std::nullopt;
  meta::Object object = existing;
  if (spec) object.Root()["spec"] = *spec;
  meta::MakeObject(object.Metadata(), "annotations")[kAnnotation] = "true";
  return object;
}

Task<> EnsureRbacPolicy(LocalApiPtr api, std::shared_ptr<Gate> namespaces, features::FeatureGates gates) {
  std::vector<Task<>> cluster;
  cluster.push_back(EnsureAll(api, fmt::format("{}clusterroles", kRbac), "clusterroles",
                              ClusterPolicy(BootstrapFile::kClusterRoles, gates), &RoleChange));
  cluster.push_back(EnsureAll(api, fmt::format("{}clusterrolebindings", kRbac), "clusterrolebindings",
                              ClusterPolicy(BootstrapFile::kClusterRoleBindings, gates), &BindingChangeOf));
  co_await api->Together(std::move(cluster));
  co_await Gate::Wait(namespaces);
  std::vector<Task<>> namespaced;
  namespaced.push_back(
      EnsureAll(api, fmt::format("{}roles", kRbac), "roles", BootstrapObjects(BootstrapFile::kRoles), &RoleChange));
  namespaced.push_back(EnsureAll(api, fmt::format("{}rolebindings", kRbac), "rolebindings",
                                 BootstrapObjects(BootstrapFile::kRoleBindings), &BindingChangeOf));
  co_await api->Together(std::move(namespaced));
}

Task<> EnsurePriorityClasses(LocalApiPtr api) {
  return EnsureAll(api, "/apis/scheduling.k8s.io/v1/priorityclasses", "priorityclasses",
                   BootstrapObjects(BootstrapFile::kPriorityClasses), &Never);
}

Task<> EnsureFlowControl(LocalApiPtr api) {
  constexpr std::string_view kGroup = "/apis/flowcontrol.apiserver.k8s.io/v1/";
  std::vector<Task<>> tasks;
  tasks.push_back(EnsureAll(api, fmt::format("{}flowschemas", kGroup), "flowschemas",
                            BootstrapObjects(BootstrapFile::kFlowSchemas), &FlowControlChange));
  tasks.push_back(EnsureAll(api, fmt::format("{}prioritylevelconfigurations", kGroup), "prioritylevelconfigurations",
                            BootstrapObjects(BootstrapFile::kPriorityLevels), &FlowControlChange));
  co_await api->Together(std::move(tasks));
}

}  // namespace apimesh::core_api
