#include "lib/mesh/delegate/description_changes.h"

#include <algorithm>
#include <set>
#include <unordered_set>

namespace apimesh::mesh {
namespace {

using Name = std::pair<std::string_view, std::string_view>;
using Versions = std::vector<GroupVersionPtr>;

Name NameOf(const GroupVersionPtr& version) { return {version->group, version->version}; }

/// Returns the group-versions of `all` that are not in `others`, without comparing texts.
Versions Missing(const Versions& all, const Versions& others) {
  std::unordered_set<const GroupVersionDescription*> known;
  known.reserve(others.size());
  for (const GroupVersionPtr& one : others) known.insert(one.get());
  Versions missing;
  std::copy_if(all.begin(), all.end(), std::back_inserter(missing),
               [&known](const GroupVersionPtr& one) { return !known.contains(one.get()); });
  return missing;
}

void Write(const Versions& versions, mesh::v1::Description& message) {
  message.mutable_group_versions()->Reserve(static_cast<int>(versions.size()));
  for (const GroupVersionPtr& version : versions) {
    auto* out = message.add_group_versions();
    out->set_group(version->group);
    out->set_version(version->version);
    out->set_group_priority_minimum(version->group_priority_minimum);
    out->set_version_priority(version->version_priority);
    out->set_resource_list(version->resource_list);
    out->set_aggregated_discovery(version->aggregated_discovery);
    out->set_openapi_v3_hash(version->openapi_v3_hash);
  }
}

Versions Read(mesh::v1::Description& message) {
  Versions versions;
  versions.reserve(static_cast<std::size_t>(message.group_versions_size()));
  for (auto& version : *message.mutable_group_versions()) {
    GroupVersionDescription out;
    out.group = std::move(*version.mutable_group());
    out.version = std::move(*version.mutable_version());
    out.group_priority_minimum = version.group_priority_minimum();
    out.version_priority = version.version_priority();
    out.resource_list = std::move(*version.mutable_resource_list());
    out.aggregated_discovery = std::move(*version.mutable_aggregated_discovery());
    out.openapi_v3_hash = std::move(*version.mutable_openapi_v3_hash());
    versions.push_back(std::make_shared<const GroupVersionDescription>(std::move(out)));
  }
  return versions;
}

}  // namespace

mesh::v1::Description ToProto(const Description& next, const Description* sent) {
  mesh::v1::Description message;
  message.set_etag(next.etag);
  for (const std::string& path : next.paths) message.add_paths(path);
  message.set_memory(next.memory);
  if (!sent) {
    Write(next.group_versions, message);
    return message;
  }
  message.set_changes_only(true);
  const Versions changed = Missing(next.group_versions, sent->group_versions);
  Write(changed, message);
  std::set<Name> present;
  for (const GroupVersionPtr& version : changed) present.insert(NameOf(version));
  for (const GroupVersionPtr& version : Missing(sent->group_versions, next.group_versions)) {
    if (present.contains(NameOf(version))) continue;
    auto* removed = message.add_removed();
    removed->set_group(version->group);
    removed->set_version(version->version);
  }
  return message;
}

std::optional<Description> FromProto(mesh::v1::Description&& message, const std::optional<Description>& known) {
  Description description;
  description.etag = std::move(*message.mutable_etag());
  description.paths.assign(message.paths().begin(), message.paths().end());
  description.memory = std::move(*message.mutable_memory());
  Versions versions = Read(message);
  if (!message.changes_only()) {
    description.group_versions = std::move(versions);
    return description;
  }
  if (!known) return std::nullopt;
  std::set<Name> replaced;
  for (const GroupVersionPtr& version : versions) replaced.insert(NameOf(version));
  for (const auto& removed : message.removed()) replaced.insert({removed.group(), removed.version()});
  description.group_versions.reserve(known->group_versions.size() + versions.size());
  for (const GroupVersionPtr& version : known->group_versions) {
    if (!replaced.contains(NameOf(version))) description.group_versions.push_back(version);
  }
  std::move(versions.begin(), versions.end(), std::back_inserter(description.group_versions));
  return description;
}

}  // namespace apimesh::mesh
