#include "services/core-api/groups/core/pod/status_rules.h"

#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "services/core-api/features/rule_features.h"
#include "services/core-api/groups/core/pod/container_statuses.h"
#include "services/core-api/groups/core/pod/pod_rules.h"
#include "services/core-api/groups/core/pod/status_ips.h"
#include "services/core-api/validation/quantities.h"
#include "services/core-api/validation/resource_names.h"
#include "services/core-api/validation/texts.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

using meta::json::object;
using meta::json::value;

const object& StatusOf(const meta::Object& pod) {
  static const object empty;
  const value* status = meta::FindField(pod.Root(), "status");
  return status && status->is_object() ? status->get_object() : empty;
}

std::int64_t ObservedGeneration(const object& holder) {
  const value* found = meta::FindField(holder, "observedGeneration");
  return found && found->is_int64() ? found->get_int64() : 0;
}

void ValidateObservedGeneration(const Check& holder) {
  if (holder.Number("observedGeneration").value_or(0) < 0)
    holder.Invalid("observedGeneration", "must be a non-negative integer");
}

void ValidateConditions(const Check& status) {
  for (const Check& condition : status.Each("conditions")) {
    ValidateObservedGeneration(condition);
    const std::string_view type = condition.Text("type");
    if (type == "PodScheduled" || type == "Ready" || type == "Initialized") continue;
    for (std::string& complaint : meta::CheckQualifiedName(type)) {
      condition.Add(meta::Invalid(condition.Path().Child("Type").ToString(), meta::Quoted(type), std::move(complaint)));
    }
  }
}

void ValidateNominatedNode(const Check& status, const meta::Object& old) {
  const std::string_view now = status.Text("nominatedNodeName");
  if (now.empty() || now == meta::FindString(old.Root(), "status", "nominatedNodeName")) return;
  status.Names("nominatedNodeName", meta::CheckDnsSubdomain);
  if (ActiveRuleFeatures().clearing_nominated_node_name_after_binding &&
      !meta::FindString(old.Root(), "spec", "nodeName").empty())
    status.Forbid("nominatedNodeName", "may not be set on pods that are already bound to a node");
}

void ValidateClaimStatuses(const Check& status, const object& spec) {
  std::set<std::string_view> claims, seen;
  for (const object& claim : Objects(meta::FindField(spec, "resourceClaims")))
    claims.insert(meta::FindString(claim, "name"));
  for (const Check& claim : status.Each("resourceClaimStatuses")) {
    const std::string_view name = claim.Text("name");
    if (!claims.contains(name))
      claim.Add(meta::Invalid(claim.Path().Child("name").ToString(), meta::Quoted(name),
                              "must match the name of an entry in `spec.resourceClaims`"));
    if (!seen.insert(name).second)
      claim.Add(meta::Duplicate(claim.Path().Child("name").ToString(), meta::Quoted(name)));
    if (claim.Has("resourceClaimName"))
      CheckText(claim, claim.Path().Child("resourceClaimName"), claim.Text("resourceClaimName"),
                &meta::CheckDnsSubdomain);
  }
}

void ValidateExtendedClaim(const Check& pod_status, const object& spec) {
  const std::optional<Check> status = pod_status.Child("extendedResourceClaimStatus");
  if (!status) return;
  std::map<std::string_view, const object*> containers;
  for (const char* list : {"initContainers", "containers"}) {
    for (const object& container : Objects(meta::FindField(spec, list)))
      containers[meta::FindString(container, "name")] = &container;
  }
  const Checks mappings = status->Each("requestMappings");
  if (mappings.empty())
    status->Add(
        meta::Required(status->Path().Child("requestMappings").ToString(), "at least one request mapping is required"));
  std::set<std::tuple<std::string_view, std::string_view, std::string_view>> seen;
  for (const Check& mapping : mappings) {
    const std::string_view container = mapping.Text("containerName"), resource = mapping.Text("resourceName"),
                           request = mapping.Text("requestName");
    const auto found = containers.find(container);
    if (found == containers.end()) {
      mapping.Add(meta::Invalid(mapping.Path().Child("containerName").ToString(), meta::Quoted(container),
                                "must match the name of an entry in spec.initContainers.name or spec.containers.name"));
    } else if (!meta::Find(*found->second, "resources", "requests", resource)) {
      mapping.Add(meta::Invalid(mapping.Path().Child("resourceName").ToString(), meta::Quoted(resource),
                                "must match the extended resource name of an entry in "
                                "spec.initContainers.resources.requests or spec.containers.resources.requests"));
    }
    CheckText(mapping, status->Path().Child("requestName"), request, &meta::CheckDnsLabel);
    if (seen.emplace(container, resource, request).second) continue;
    for (const char* field : {"containerName", "resourceName", "requestName"})
      mapping.Add(meta::Duplicate(mapping.Path().Child(field).ToString(), meta::Quoted(mapping.Text(field))));
  }
  status->RequireName("resourceClaimName", meta::CheckDnsSubdomain);
}

void ValidateNodeAllocatableClaims(const Check& status, const object& spec) {
  const Checks claims = status.Each("nodeAllocatableResourceClaimStatuses");
  if (claims.empty()) return;
  std::set<std::string_view> known;
  for (const object& claim : Objects(meta::FindField(spec, "resourceClaims")))
    known.insert(meta::FindString(claim, "resourceClaimName"));
  for (const Check& claim : status.Each("resourceClaimStatuses")) known.insert(claim.Text("resourceClaimName"));
  known.erase("");
  for (const Check& claim : claims) {
    const std::string_view name = claim.Text("resourceClaimName");
    claim.Require("resourceClaimName", "must not be empty");
    if (!known.contains(name))
      claim.Add(meta::Invalid(claim.Path().Child("resourceClaimName").ToString(), meta::Quoted(name),
                              "no mapping found in pod reference"));
    if (SizeOf(claim, "containers") == 0)
      claim.Add(meta::Required(claim.Path().Child("containers").ToString(), "must not be empty"));
    const std::optional<Check> resources = claim.Child("resources");
    const meta::Path path = claim.Path().Child("resources");
    if (!resources || resources->Object().empty()) {
      claim.Add(meta::Required(path.ToString(), "must not be empty"));
      continue;
    }
    for (const auto& [resource, amount] : resources->Object()) {
      if (!IsNativeResource(resource))
        claim.Add(meta::Invalid(path.Key(resource).ToString(), meta::Quoted(resource),
                                "must be a node allocatable resource name"));
      if (const auto quantity = QuantityOf(&amount); quantity && quantity->Sign() < 0)
        claim.Add(
            meta::Invalid(path.Key(resource).ToString(), meta::Quoted(quantity->ToString()), "must be non-negative"));
    }
  }
}

}  // namespace

void KeepObservedGenerations(meta::Object& pod, const meta::Object& old) {
  value* status = meta::FindField(pod.Root(), "status");
  if (!status || !status->is_object()) return;
  const object& before = StatusOf(old);
  const auto keep = [](object& holder, std::int64_t generation) {
    if (generation != 0 && ObservedGeneration(holder) == 0) holder["observedGeneration"] = generation;
  };
  keep(status->get_object(), ObservedGeneration(before));
  // Several conditions may have the same type, so the generations of each type are used in their order.
  std::multimap<std::string_view, std::int64_t> generations;
  for (const object& condition : Objects(meta::FindField(before, "conditions")))
    generations.emplace(meta::FindString(condition, "type"), ObservedGeneration(condition));
  for (object& condition : Objects(meta::FindField(status->get_object(), "conditions"))) {
    const auto found = generations.lower_bound(meta::FindString(condition, "type"));
    if (found == generations.end() || found->first != meta::FindString(condition, "type")) continue;
    keep(condition, found->second);
    generations.erase(found);
  }
}

meta::FieldErrors ValidatePodStatusUpdate(const meta::Object& pod, const meta::Object& old) {
  meta::FieldErrors errors;
  ValidateAnnotationChanges(pod, old, errors);
  const Check status(StatusOf(pod), meta::Path("status"), errors);
  const object& spec = PodSpecOf(pod);
  ValidateConditions(status);
  ValidateNominatedNode(status, old);
  ValidateObservedGeneration(status);
  if (status.Text("qosClass") != meta::FindString(old.Root(), "status", "qosClass")) {
    status.Add(meta::Invalid("status.qosClass", meta::Quoted(status.Text("qosClass")), "field is immutable"));
  }
  ValidateStateTransitions(status, old);
  ValidateClaimStatuses(status, spec);
  ValidateExtendedClaim(status, spec);
  ValidateNodeAllocatableClaims(status, spec);
  errors.Append(ValidateStatusIps(pod, old));
  ValidateContainerStatuses(status, spec);
  return errors;
}

}  // namespace apimesh::core_api
