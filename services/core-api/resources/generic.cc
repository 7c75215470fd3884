#include "services/core-api/resources/generic.h"

#include <stdexcept>

#include "lib/registry/status_strategy.h"
#include "lib/schema/builtin.h"
#include "services/core-api/resources/table.h"

namespace apimesh::core_api {
namespace {

registry::Subresource MakeSubresource(const ResourceRow& row, const registry::Resource& parent) {
  registry::Subresource made;
  const std::string name = row.resource.substr(row.resource.find('/') + 1);
  if (name == "status") made = registry::MakeStatusSubresource(parent.strategy);
  made.name = name;
  made.verbs = row.verbs;
  if (row.kind != parent.gvk) {
    made.kind = row.kind;
    made.schema = schema::Builtin().FindKind(row.kind);
  }
  if (name == "scale") {
    made.scale = registry::ScalePaths{.selector = "spec.selector"};
    made.strategy = parent.strategy;
  }
  made.takes_path = name == "proxy";
  return made;
}

bool HasStatus(std::string_view group, std::string_view version, std::string_view resource) {
  for (const ResourceRow& row : ResourceTable()) {
    if (row.group == group && row.version == version && row.resource == std::string(resource) + "/status") return true;
  }
  return false;
}

/// Returns the resource of a row, without its subresources.
registry::Resource MakeResource(std::string_view group, std::string_view version, std::string_view resource) {
  registry::Resource made;
  for (const ResourceRow& row : ResourceTable()) {
    if (row.group != group || row.version != version) continue;
    if (row.resource == resource) {
      made.gvk = row.kind;
      made.plural = row.resource;
      made.singular = row.singular;
      made.short_names = row.short_names;
      made.categories = row.categories;
      made.scope = row.namespaced ? registry::Scope::kNamespaced : registry::Scope::kCluster;
      made.verbs = row.verbs;
      made.storage_prefix = row.storage_prefix;
      if (!row.warning.empty()) made.warnings = {row.warning};
      if (!row.storage_prefix.empty())
        made.storage_gvk = {row.storage_version.group, row.storage_version.version, row.kind.kind};
    }
  }
  if (made.plural.empty()) throw std::logic_error("no such resource in the table: " + std::string(resource));
  made.schema = schema::Builtin().FindKind(made.gvk);
  if (!made.schema) throw std::logic_error("no schema for " + made.gvk.ToString());
  return made;
}

registry::StrategyPtr DefaultStrategy(bool status) {
  if (status) return std::make_shared<registry::SpecStrategy>();
  return std::make_shared<registry::Strategy>();
}

}  // namespace

registry::Resource FromTable(std::string_view group, std::string_view version, std::string_view resource,
                             registry::StrategyPtr strategy) {
  registry::Resource made = MakeResource(group, version, resource);
  const bool status = HasStatus(group, version, resource);
  if (status) made.reset_fields = {"status"};
  made.strategy = strategy ? std::move(strategy) : DefaultStrategy(status);
  const std::string prefix = std::string(resource) + "/";
  for (const ResourceRow& row : ResourceTable()) {
    if (row.group != group || row.version != version || !row.resource.starts_with(prefix)) continue;
    made.subresources.push_back(MakeSubresource(row, made));
  }
  return made;
}

registry::Subresource& SubresourceOf(registry::Resource& resource, std::string_view name) {
  for (registry::Subresource& subresource : resource.subresources) {
    if (subresource.name == name) return subresource;
  }
  throw std::logic_error(resource.plural + " has no subresource " + std::string(name));
}

}  // namespace apimesh::core_api
