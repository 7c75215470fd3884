#include "services/extensions-api/custom_resources/custom_resource.h"

#include <algorithm>

#include <fmt/format.h>

#include "lib/base/text/version_order.h"
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

/// The parts of a definition that all its versions have in common.
struct Definition {
  std::string group;
  Names names;
  bool namespaced = true;
  std::string storage_version;
  std::vector<std::string> supported;  // the served versions that are not deprecated, the preferred one first
};

std::string WithoutDot(std::string_view path) { return std::string(path.starts_with('.') ? path.substr(1) : path); }

/// A schema that accepts everything, for a version without a schema.
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
    status.verbs = {meta::Verb::kGet, meta::Verb::kPatch, meta::Verb::kUpdate};
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
    scale.verbs = {meta::Verb::kGet, meta::Verb::kPatch, meta::Verb::kUpdate};
    scale.strategy = resource.strategy;
    scale.scale = options.scale;
    resource.subresources.push_back(std::move(scale));
  }
}

void AddSelectableFields(registry::Resource& resource, const json::object& version) {
  const json::value* fields = meta::FindField(version, "selectableFields");
  if (!fields || !fields->is_array()) return;
  for (const json::value& one : fields->get_array()) {
    if (one.is_object())
      resource.selectable_fields.push_back(WithoutDot(meta::FindString(one.get_object(), "jsonPath")));
  }
}

registry::Resource MakeResource(const Definition& definition, const json::object& version, const schema::Node* node,
                                const CustomSources& sources) {
  const RuleMetrics metrics = sources.metrics ? RuleMetrics(*sources.metrics, sources.webhooks.clock) : RuleMetrics();
  registry::Resource resource;
  resource.gvk = {definition.group, std::string(meta::FindString(version, "name")), definition.names.kind};
  resource.plural = definition.names.plural;
  resource.singular = definition.names.singular;
  resource.short_names = definition.names.short_names;
  resource.categories = definition.names.categories;
  resource.scope = definition.namespaced ? registry::Scope::kNamespaced : registry::Scope::kCluster;
  resource.verbs = meta::kStoredResourceVerbs;
  resource.schema = node;
  resource.generation = true;
  resource.storage_prefix = definition.group + "/" + definition.names.plural;
  resource.storage_gvk = {definition.group, definition.storage_version, definition.names.kind};
  const json::value* openapi = meta::Find(version, "schema", "openAPIV3Schema");
  CustomStrategyOptions options{
      resource.gvk,
      node,
      meta::Find(version, "subresources", "status") != nullptr,
      ScaleOfVersion(version),
      openapi && openapi->is_object() ? LazyRules::Make(openapi->get_object(), *node, metrics) : nullptr,
      metrics};
  resource.strategy = MakeCustomStrategy(options);
  AddSubresources(resource, options);
  AddSelectableFields(resource, version);
  resource.table = PrinterOf(meta::FindField(version, "additionalPrinterColumns"));
  return resource;
}

std::vector<std::string> DeprecationWarnings(const Definition& definition, const json::object& version) {
  if (!Flag(version, "deprecated")) return {};
  if (const std::string_view text = meta::FindString(version, "deprecationWarning"); !text.empty())
    return {std::string(text)};
  std::string warning =
      fmt::format("{}/{} {} is deprecated", definition.group, meta::FindString(version, "name"), definition.names.kind);
  // Only a version that is more stable or newer is recommended.
  if (!definition.supported.empty() &&
      VersionComesBefore(definition.supported.front(), meta::FindString(version, "name"))) {
    warning += fmt::format("; use {}/{} {}", definition.group, definition.supported.front(), definition.names.kind);
  }
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
    if (Flag(*version, "served") && !Flag(*version, "deprecated")) definition.supported.push_back(name);
  }
  std::sort(definition.supported.begin(), definition.supported.end(), VersionComesBefore);
  return definition;
}

/// Returns the client of the definition's conversion webhook, or nullptr if it has none.
WebhookConverterPtr ConverterOf(const meta::Object& crd, const CustomSources& sources) {
  const json::value* conversion = meta::Find(crd.Root(), "spec", "conversion");
  if (!conversion || !conversion->is_object() || meta::FindString(conversion->get_object(), "strategy") != "Webhook")
    return nullptr;
  WebhookConverter::Options options;
  options.crd_name = crd.Name();
  if (const json::value* config = meta::Find(conversion->get_object(), "webhook", "clientConfig");
      config && config->is_object())
    options.webhook = service::ReadWebhookConfig(config->get_object());
  if (const json::value* versions = meta::Find(conversion->get_object(), "webhook", "conversionReviewVersions");
      versions && versions->is_array()) {
    for (const json::value& version : versions->get_array()) {
      if (version.is_string()) options.review_versions.emplace_back(std::string_view(version.get_string()));
    }
  }
  return std::make_shared<const WebhookConverter>(std::move(options), sources.webhooks, sources.metrics);
}

/// Returns the change of objects that are written through a version other than the storage version: they lose what the
/// storage version does not have.
BeforeWrite StoredView(const registry::Resource& resource, const VersionSchemas& versions,
                       std::shared_ptr<const schema::Schema> schemas) {
  if (resource.storage_gvk == resource.gvk) return nullptr;
  return [served = resource.gvk, stored = resource.storage_gvk, versions,
          schemas = std::move(schemas)](meta::Object& object) {
    object.SetGvk(stored);
    return ConvertToServed(object, served, versions);
  };
}

/// `schemas` owns `versions`.
Task<meta::Result<meta::Object>> ConvertTo(meta::Object object, meta::Gvk kind, VersionSchemas versions,
                                           std::shared_ptr<const schema::Schema> /*schemas*/) {
  CO_RETURN_IF_ERROR(ConvertToServed(object, kind, versions));
  co_return object;
}

}  // namespace

std::vector<CustomVersion> MakeCustomResources(const meta::Object& crd, const CustomSources& sources) {
  const Definition definition = ReadDefinition(crd);
  const auto schemas = std::make_shared<schema::Schema>();
  std::vector<std::pair<const json::object*, const schema::Node*>> compiled;
  for (const json::object* version : Versions(crd)) {
    const json::value* openapi = meta::Find(*version, "schema", "openAPIV3Schema");
    compiled.emplace_back(
        version,
        schema::CompileOpenApi(openapi && openapi->is_object() ? openapi->get_object() : AnySchema(), *schemas));
  }
  schemas->Seal();
  VersionSchemas nodes;
  for (const auto& [version, node] : compiled) nodes.emplace(meta::FindString(*version, "name"), node);
  const WebhookConverterPtr converter = ConverterOf(crd, sources);
  std::vector<CustomVersion> versions;
  for (const auto& [version, node] : compiled) {
    auto made = std::make_shared<endpoint::ServedResource>();
    made->resource = MakeResource(definition, *version, node, sources);
    made->custom = true;
    made->owner = schemas;
    made->admission = sources.admission;
    const WebhookConversion conversion{converter, nodes, schemas};
    if (converter) {
      made->convert = [conversion](meta::RequestContext, meta::Object object, meta::Gvk kind) {
        return ConvertByWebhook(conversion, std::move(object), std::move(kind));
      };
    } else {
      made->convert = [nodes, schemas](meta::RequestContext, meta::Object object, meta::Gvk kind) {
        return ConvertTo(std::move(object), std::move(kind), nodes, schemas);
      };
    }
    if (converter && compiled.size() > 1) {
      made->resource.convert_suspending = [conversion](meta::Object object, std::string api_version) {
        return ConvertForFields(conversion, std::move(object), std::move(api_version));
      };
    }
    made->resource.warnings = DeprecationWarnings(definition, *version);
    const std::shared_ptr<LazyStore> store =
        std::make_shared<LazyStore>(sources.backend, CustomStorageConfig(made->resource, nodes, schemas, converter),
                                    converter ? BeforeWrite() : StoredView(made->resource, nodes, schemas));
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
