#include "services/extensions-api/controller/catalog.h"

#include <fmt/format.h>

#include "lib/codec/codec.h"
#include "services/extensions-api/crd/conditions.h"

namespace apimesh::extensions_api {
namespace {

namespace json = meta::json;

// What the reference registers custom groups with.
constexpr int kGroupPriority = 1000;
constexpr int kVersionPriority = 100;

std::size_t FingerprintOf(const meta::Object& crd) {
  std::string text;
  if (const json::value* spec = meta::FindField(crd.Root(), "spec")) codec::AppendJson(text, *spec);
  if (const json::value* names = meta::Find(crd.Root(), "status", "acceptedNames")) codec::AppendJson(text, *names);
  return std::hash<std::string>()(text);
}

void Retire(const std::vector<CustomVersion>& versions) {
  for (const CustomVersion& version : versions) version.store->EndWatches();
}

}  // namespace

bool Catalog::Put(const meta::Object& crd) {
  Known& known = known_[std::string(crd.Name())];
  known.group = meta::FindString(crd.Root(), "spec", "group");
  known.accepted = ReadNames(crd, "status", "acceptedNames");
  known.conflicted = FindCondition(crd, "NamesAccepted").status == "False";
  const bool established = IsTrue(crd, "Established"), terminating = IsTrue(crd, "Terminating");
  const std::size_t fingerprint = FingerprintOf(crd);
  if (established == known.established && terminating == known.terminating && fingerprint == known.fingerprint) return false;
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
  return true;
}

bool Catalog::Remove(const std::string& name) {
  const auto found = known_.find(name);
  if (found == known_.end()) return false;
  Retire(found->second.versions);
  known_.erase(found);
  return true;
}

std::set<std::string> Catalog::Names() const {
  std::set<std::string> names;
  for (const auto& [name, known] : known_) names.insert(name);
  return names;
}

TakenNames Catalog::TakenBy(const std::string& group, const std::string& except) const {
  TakenNames taken;
  for (const auto& [name, known] : known_) {
    if (known.group == group && name != except) taken.Add(known.accepted);
  }
  return taken;
}

std::vector<std::string> Catalog::Conflicted(const std::string& group, const std::string& except) const {
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

endpoint::ServedResourcePtr Catalog::StorageOf(const std::string& name) const {
  const auto found = known_.find(name);
  if (found == known_.end()) return nullptr;
  for (const CustomVersion& version : found->second.versions) {
    if (version.storage) return version.resource;
  }
  return nullptr;
}

std::vector<endpoint::ServedVersion> Catalog::Served() const {
  std::map<meta::GroupVersion, endpoint::ServedVersion> versions;
  for (const auto& [name, known] : known_) {
    for (const CustomVersion& version : known.versions) {
      if (!version.served) continue;
      const meta::GroupVersion key = version.resource->resource.gvk.Version();
      endpoint::ServedVersion& served = versions[key];
      served.version = key;
      served.group_priority_minimum = kGroupPriority;
      served.version_priority = kVersionPriority;
      served.resources.push_back(version.resource);
      served.openapi_v3_hash = fmt::format("{:016X}", std::hash<std::string>()(served.openapi_v3_hash) ^ known.fingerprint);
    }
  }
  std::vector<endpoint::ServedVersion> all;
  for (auto& [key, version] : versions) all.push_back(std::move(version));
  return all;
}

}  // namespace apimesh::extensions_api
