#include "services/extensions-api/custom_resources/custom_resource.h"

#include <fmt/format.h>

#include "lib/schema/builtin.h"
#include "lib/schema/crd.h"
#include "services/extensions-api/crd/names.h"
#include "services/extensions-api/crd/version_rules.h"
#include "services/extensions-api/custom_resources/columns.h"
#include "services/extensions-api/custom_resources/conversion.h"
#include "services/extensions-api/custom_resources/lazy_store.h"
#include "services/extensions-api/custom_resources/strategy.h"

namespace apimesh::extensions_api {
namespace {

namespace json = meta::json;

bool Flag(const json::object& object, std::string_view name) {
  const json::value* value = meta::FindField(object, name);
  return value && value->is_bool() && value->get_bool();
}

/// What a definition says of all its versions.
struct Definition {
  std::string group;
  Names names;
  bool namespaced = true;
  std::string storage_version;
  std::string newest;  // the version that deprecated ones point to
};

std::string WithoutDot(std::string_view path) { return std::string(path.starts_with('.') ? path.substr(1) : path); }

/// A schema that lets everything through, for a version that has none.
const json::object& AnySchema() {
  static const json::object any{{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
  return any;
}

std::optional<registry::ScalePaths> ScaleOfVersion(const json::object& version) {
  const json::value* scale = meta::Find(version, "subresources", "scale");
  if (!scale || !scale->is_object()) return std::nullopt;
  const auto path = [scale](std::string_view name) { return WithoutDot(meta::FindString(scale->get_object(), name)); };
  return registry::ScalePaths{path("specReplicasPath"), path("statusReplicasPath"), path("labelSelectorPath")};
}

void AddSubresources(registry::Resource& resource, const CustomStrategyOptions& options) {
  if (options.has_status) {
    registry::Subresource status;
    status.name = "status";
    status.verbs = {"get", "patch", "update"};
    status.strategy = MakeCustomStatusStrategy(options);
    status.reset_fields = {"metadata", "spec"};
    resource.subresources.push_back(std::move(status));
    resource.reset_fields = {"status"};
  }
  if (options.scale) {
    registry::Subresource scale;
    scale.name = "scale";
    scale.kind = {"autoscaling", "v1", "Scale"};
    scale.schema = schema::Builtin().FindKind(scale.kind);
    scale.verbs = {"get", "patch", "update"};
    scale.strategy = resource.strategy;
    scale.scale = options.scale;
    resource.subresources.push_back(std::move(scale));
  }
}

void AddSelectableFields(registry::Resource& resource, const json::object& version) {
  const json::value* fields = meta::FindField(version, "selectableFields");
  if (!fields || !fields->is_array()) return;
  for (const json::value& one : fields->get_array()) {
    if (one.is_object()) resource.selectable_fields.push_back(WithoutDot(meta::FindString(one.get_object(), "jsonPath")));
  }
}

registry::Resource MakeResource(const Definition& definition, const json::object& version, const schema::Node* node) {
  registry::Resource resource;
  resource.gvk = {definition.group, std::string(meta::FindString(version, "name")), definition.names.kind};
  resource.plural = definition.names.plural;
  resource.singular = definition.names.singular;
  resource.short_names = definition.names.short_names;
  resource.categories = definition.names.categories;
  resource.scope = definition.namespaced ? registry::Scope::kNamespaced : registry::Scope::kCluster;
  resource.verbs = {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
  resource.schema = node;
  resource.generation = true;
  resource.storage_prefix = definition.group + "/" + definition.names.plural;
  resource.storage_gvk = {definition.group, definition.storage_version, definition.names.kind};
  CustomStrategyOptions options{resource.gvk, node, meta::Find(version, "subresources", "status") != nullptr, ScaleOfVersion(version)};
  resource.strategy = MakeCustomStrategy(options);
  AddSubresources(resource, options);
  AddSelectableFields(resource, version);
  resource.table = PrinterOf(meta::FindField(version, "additionalPrinterColumns"));
  return resource;
}

std::vector<std::string> DeprecationWarnings(const Definition& definition, const json::object& version) {
  if (!Flag(version, "deprecated")) return {};
  if (const std::string_view text = meta::FindString(version, "deprecationWarning"); !text.empty()) return {std::string(text)};
  std::string warning = fmt::format("{}/{} {} is deprecated", definition.group, meta::FindString(version, "name"), definition.names.kind);
  if (!definition.newest.empty()) warning += fmt::format("; use {}/{} {}", definition.group, definition.newest, definition.names.kind);
  return {warning};
}

class ForbidCreation final : public admission::Plugin {
 public:
  explicit ForbidCreation(admission::ChainPtr rest) : rest_(std::move(rest)) {}
  bool Handles(admission::Phase, const admission::Attributes&) const override { return true; }
  Task<meta::Result<>> Mutate(meta::RequestContext ctx, admission::Attributes& attributes) override {
    if (attributes.operation == admission::Operation::kCreate) {
      co_return meta::Forbidden(attributes.resource.GroupResource(), attributes.name,
                                "create not allowed while custom resource definition is terminating");
    }
    co_return co_await rest_->Mutate(std::move(ctx), attributes);
  }
  Task<meta::Result<>> Validate(meta::RequestContext ctx, const admission::Attributes& attributes) override {
    co_return co_await rest_->Validate(std::move(ctx), attributes);
  }

 private:
  const admission::ChainPtr rest_;
};

Definition ReadDefinition(const meta::Object& crd) {
  Definition definition;
  definition.group = meta::FindString(crd.Root(), "spec", "group");
  definition.names = ReadNames(crd, "status", "acceptedNames");
  definition.namespaced = meta::FindString(crd.Root(), "spec", "scope") == "Namespaced";
  for (const json::object* version : Versions(crd)) {
    const std::string name(meta::FindString(*version, "name"));
    if (Flag(*version, "storage")) definition.storage_version = name;
    if (Flag(*version, "served") && !Flag(*version, "deprecated") && definition.newest.empty()) definition.newest = name;
  }
  return definition;
}

}  // namespace

std::vector<CustomVersion> MakeCustomResources(const meta::Object& crd, const CustomSources& sources) {
  const Definition definition = ReadDefinition(crd);
  const auto schemas = std::make_shared<schema::Schema>();
  std::vector<std::pair<const json::object*, const schema::Node*>> compiled;
  for (const json::object* version : Versions(crd)) {
    const json::value* openapi = meta::Find(*version, "schema", "openAPIV3Schema");
    compiled.emplace_back(version, schema::CompileOpenApi(openapi && openapi->is_object() ? openapi->get_object() : AnySchema(), *schemas));
  }
  schemas->Seal();
  std::vector<CustomVersion> versions;
  for (const auto& [version, node] : compiled) {
    auto made = std::make_shared<endpoint::ServedResource>();
    made->resource = MakeResource(definition, *version, node);
    made->custom = true;
    made->owner = schemas;
    made->admission = sources.admission;
    made->warnings = DeprecationWarnings(definition, *version);
    const std::shared_ptr<LazyStore> store = NewLazyStore(sources.backend, CustomStorageConfig(made->resource, schemas));
    made->store = store;
    versions.push_back({Flag(*version, "served"), Flag(*version, "storage"), std::move(made), store});
  }
  return versions;
}

CustomVersion WithoutCreation(const CustomVersion& version) {
  auto copy = std::make_shared<endpoint::ServedResource>(*version.resource);
  std::vector<std::unique_ptr<admission::Plugin>> plugins;
  plugins.push_back(std::make_unique<ForbidCreation>(copy->admission));
  copy->admission = std::make_shared<admission::Chain>(std::move(plugins));
  CustomVersion made = version;
  made.resource = std::move(copy);
  return made;
}

}  // namespace apimesh::extensions_api
