#include "services/core-api/resources/generic.h"

#include <stdexcept>

#include "lib/meta/names.h"
#include "lib/registry/not_enforced.h"
#include "lib/registry/status_strategy.h"
#include "lib/schema/builtin.h"
#include "services/core-api/resources/table.h"
#include "services/core-api/resources/traits.h"

namespace apimesh::core_api {
namespace {

/// The traits of a kind on top of what other strategies do.
template <class Base>
class WithTraits final : public Base {
 public:
  WithTraits(Traits traits, const meta::GroupResource& resource) : traits_(traits), resource_(resource.ToString()) {}
  bool AllowCreateOnUpdate() const override { return traits_.create_on_update; }
  bool AllowUnconditionalUpdate() const override { return !traits_.needs_version; }
  std::vector<std::string> Warnings(const meta::RequestContext&, const meta::Object&, const meta::Object*) const override {
    if (!traits_.not_enforced) return {};
    return {registry::NotEnforced(resource_)};
  }

 private:
  Traits traits_;
  std::string resource_;
};

registry::Subresource MakeSubresource(const ResourceRow& row, const registry::Resource& parent) {
  registry::Subresource made;
  const std::string name = row.resource.substr(row.resource.find('/') + 1);
  if (name == "status") made = registry::MakeStatusSubresource(parent.strategy);
  made.name = name;
  made.verbs = {row.verbs.begin(), row.verbs.end()};
  if (row.kind != parent.gvk) {
    made.kind = row.kind;
    made.schema = schema::Builtin().FindKind(row.kind);
  }
  if (name == "status") {
    made.reset_fields = {"spec"};
  } else if (name == "scale") {
    made.scale = registry::ScalePaths{.selector = "spec.selector"};
    made.strategy = parent.strategy;
  }
  // Names of what is done with an object, rather than of a part of it.
  static const std::set<std::string> kConnects = {"attach", "exec", "portforward", "proxy"};
  made.connect = kConnects.contains(name);
  made.takes_path = name == "proxy";
  return made;
}

}  // namespace

registry::Resource FromTable(std::string_view group, std::string_view version, std::string_view resource,
                             registry::StrategyPtr strategy) {
  registry::Resource made;
  const std::string prefix = std::string(resource) + "/";
  for (const ResourceRow& row : ResourceTable()) {
    if (row.group != group || row.version != version) continue;
    if (row.resource == resource) {
      made.gvk = row.kind;
      made.plural = row.resource;
      made.singular = row.singular;
      made.short_names = row.short_names;
      made.categories = row.categories;
      made.scope = row.namespaced ? registry::Scope::kNamespaced : registry::Scope::kCluster;
      made.verbs = {row.verbs.begin(), row.verbs.end()};
      made.storage_prefix = row.storage_prefix;
      if (!row.storage_prefix.empty()) made.storage_gvk = {row.storage_version.group, row.storage_version.version, row.kind.kind};
    }
  }
  if (made.plural.empty()) throw std::logic_error("no such resource in the table: " + std::string(resource));
  made.schema = schema::Builtin().FindKind(made.gvk);
  if (!made.schema) throw std::logic_error("no schema for " + made.gvk.ToString());

  // Names of roles and bindings are free: "system:node", "CONTROLLER x".
  if (made.gvk.group == "rbac.authorization.k8s.io") made.validate_name = meta::NameIsPathSegment;
  const Traits traits = TraitsOf(made.GetGroupResource());
  made.generation = traits.generation;
  made.returns_deleted_object = traits.returns_deleted_object;
  std::vector<const ResourceRow*> subresources;
  bool status = false;
  for (const ResourceRow& row : ResourceTable()) {
    if (row.group != group || row.version != version || !row.resource.starts_with(prefix)) continue;
    subresources.push_back(&row);
    status |= row.resource == prefix + "status";
  }
  if (status) made.reset_fields = {"status"};
  if (strategy) {
    made.strategy = std::move(strategy);
  } else if (status) {
    made.strategy = std::make_shared<WithTraits<registry::SpecStrategy>>(traits, made.GetGroupResource());
  } else {
    made.strategy = std::make_shared<WithTraits<registry::Strategy>>(traits, made.GetGroupResource());
  }
  for (const ResourceRow* row : subresources) made.subresources.push_back(MakeSubresource(*row, made));
  return made;
}

registry::Subresource& SubresourceOf(registry::Resource& resource, std::string_view name) {
  for (registry::Subresource& subresource : resource.subresources) {
    if (subresource.name == name) return subresource;
  }
  throw std::logic_error(resource.plural + " has no subresource " + std::string(name));
}

}  // namespace apimesh::core_api
