#include "services/extensions-api/controller/catalog.h"

#include <fmt/format.h>

#include "lib/codec/codec.h"
#include "services/extensions-api/crd/conditions.h"
#include "services/extensions-api/crd/version_rules.h"

namespace apimesh::extensions_api {
namespace {

namespace json = meta::json;

// The priority with which kube-apiserver registers custom groups.
constexpr int kGroupPriority = 1000;
constexpr int kVersionPriority = 100;

std::size_t FingerprintOf(const meta::Object& crd) {
  std::string text;
  if (const json::value* spec = meta::FindField(crd.Root(), "spec")) codec::AppendJson(text, *spec);
  if (const json::value* names = meta::Find(crd.Root(), "status", "acceptedNames")) codec::AppendJson(text, *names);
  return std::hash<std::string>()(text);
}

/// Returns the resources of the served versions.
std::vector<meta::Gvr> ServedNames(const meta::Object& crd, const std::string& group, const std::string& plural) {
  std::vector<meta::Gvr> names;
  for (const json::object* version : Versions(crd)) {
    const json::value* served = meta::FindField(*version, "served");
    if (served && *served == true) names.push_back({group, std::string(meta::FindString(*version, "name")), plural});
  }
  return names;
}

void Retire(const std::vector<CustomVersion>& versions) {
  for (const CustomVersion& version : versions) version.store->EndWatches();
}

}  // namespace

bool Catalog::Put(const meta::Object& crd) {
  Known& known = known_[std::string(crd.Name())];
  known.group = meta::FindString(crd.Root(), "spec", "group");  // immutable
  known.uid = crd.Uid();
  by_group_[known.group].insert(std::string(crd.Name()));
  known.accepted = ReadNames(crd, "status", "acceptedNames");
  known.conflicted = FindCondition(crd, "NamesAccepted").status == "False";
  const bool established = IsServed(crd), terminating = IsTrue(crd, "Terminating");
  const std::size_t fingerprint = FingerprintOf(crd);
  known.unresolvable = FindCondition(crd, "Established").reason == kInvalidCaBundle && !terminating
                           ? ServedNames(crd, known.group, known.accepted.plural)
                           : std::vector<meta::Gvr>();
  if (established == known.established && terminating == known.terminating && fingerprint == known.fingerprint)
    return false;
  if (!established || fingerprint != known.fingerprint || !known.established) {
    Retire(known.versions);
    known.versions = established ? MakeCustomResources(crd, sources_) : std::vector<CustomVersion>();
  }
  if (terminating && !known.terminating) {
    for (CustomVersion& version : known.versions) version = WithoutCreation(version);
  }
  known.established = established;
  known.terminating = terminating;
  known.fingerprint = fingerprint;
  ServeGroup(known.group);
  return true;
}

bool Catalog::Remove(const std::string& name) {
  const auto found = known_.find(name);
  if (found == known_.end()) return false;
  Retire(found->second.versions);
  const std::string group = found->second.group;
  known_.erase(found);
  std::set<std::string>& names = by_group_[group];
  names.erase(name);
  if (names.empty()) by_group_.erase(group);
  ServeGroup(group);
  return true;
}

std::set<std::string> Catalog::Names() const {
  std::set<std::string> names;
  for (const auto& [name, known] : known_) names.insert(name);
  return names;
}

TakenNames Catalog::NamesTakenByOthers(const std::string& group, const std::string& except) const {
  TakenNames taken;
  for (const auto& [name, known] : known_) {
    if (known.group == group && name != except) taken.Add(known.accepted);
  }
  return taken;
}

std::vector<std::string> Catalog::DefinitionsLackingNames(const std::string& group, const std::string& except) const {
  std::vector<std::string> names;
  for (const auto& [name, known] : known_) {
    if (known.group == group && known.conflicted && name != except) names.push_back(name);
  }
  return names;
}

std::string Catalog::GroupOf(const std::string& name) const {
  const auto found = known_.find(name);
  return found == known_.end() ? "" : found->second.group;
}

std::optional<ServedDefinition> Catalog::Describe(const std::string& name) const {
  const auto found = known_.find(name);
  if (found == known_.end()) return std::nullopt;
  ServedDefinition definition;
  definition.uid = found->second.uid;
  for (const CustomVersion& version : found->second.versions) {
    if (version.served) definition.resources.push_back(version.resource->resource.GetGvr());
  }
  return definition;
}

endpoint::ServedResourcePtr Catalog::StorageOf(const std::string& name) const {
  const auto found = known_.find(name);
  if (found == known_.end()) return nullptr;
  for (const CustomVersion& version : found->second.versions) {
    if (version.storage) return version.resource;
  }
  return nullptr;
}

std::set<meta::Gvr> Catalog::Unresolvable() const {
  std::set<meta::Gvr> all;
  for (const auto& [name, known] : known_) all.insert(known.unresolvable.begin(), known.unresolvable.end());
  return all;
}

std::vector<endpoint::ServedVersion> Catalog::Served() const {
  std::vector<endpoint::ServedVersion> all;
  all.reserve(served_.size());
  for (const auto& [key, version] : served_) all.push_back(version);
  return all;
}

void Catalog::ServeGroup(const std::string& group) {
  const auto first = served_.lower_bound({group, ""});
  auto last = first;
  while (last != served_.end() && last->first.group == group) ++last;
  served_.erase(first, last);
  const auto names = by_group_.find(group);
  if (names == by_group_.end()) return;
  for (const std::string& name : names->second) {
    const Known& known = known_.at(name);
    for (const CustomVersion& version : known.versions) {
      if (!version.served) continue;
      const meta::GroupVersion key = version.resource->resource.gvk.Version();
      endpoint::ServedVersion& served = served_[key];
      served.version = key;
      served.group_priority_minimum = kGroupPriority;
      served.version_priority = kVersionPriority;
      served.resources.push_back(version.resource);
      served.openapi_v3_hash =
          fmt::format("{:016X}", std::hash<std::string>()(served.openapi_v3_hash) ^ known.fingerprint);
    }
  }
}

}  // namespace apimesh::extensions_api
