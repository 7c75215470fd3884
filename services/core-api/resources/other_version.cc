#include "services/core-api/resources/other_version.h"

#include <algorithm>

#include "lib/schema/builtin.h"
#include "lib/schema/defaults.h"
#include "services/core-api/resources/generic.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;
using meta::Object;
using meta::RequestContext;

Object InHub(const Object& object, const VersionConversion& conversion) {
  Object converted = object;
  conversion.to_hub(converted.Root());
  return converted;
}

/// Applies a strategy of the hub to objects of another version.
class ConvertingStrategy final : public registry::Strategy {
 public:
  ConvertingStrategy(registry::StrategyPtr hub, const schema::Node& schema, VersionConversion conversion)
      : hub_(std::move(hub)), schema_(schema), conversion_(std::move(conversion)) {}

  void Default(json::object& object) const override {
    conversion_.to_hub(object);
    schema::ApplyDefaults(object, schema_);  // a constant of the hub may depend on another field in this version
    hub_->Default(object);
    conversion_.from_hub(object);
  }
  void PrepareForCreate(const RequestContext& ctx, Object& object) const override {
    conversion_.to_hub(object.Root());
    hub_->PrepareForCreate(ctx, object);
    conversion_.from_hub(object.Root());
  }
  meta::FieldErrors Validate(const RequestContext& ctx, const Object& object) const override {
    return hub_->Validate(ctx, InHub(object, conversion_));
  }
  void PrepareForUpdate(const RequestContext& ctx, Object& object, const Object& old) const override {
    conversion_.to_hub(object.Root());
    hub_->PrepareForUpdate(ctx, object, InHub(old, conversion_));
    conversion_.from_hub(object.Root());
  }
  meta::FieldErrors ValidateUpdate(const RequestContext& ctx, const Object& object, const Object& old) const override {
    return hub_->ValidateUpdate(ctx, InHub(object, conversion_), InHub(old, conversion_));
  }
  std::vector<std::string> Warnings(const RequestContext& ctx, const Object& object, const Object* old) const override {
    if (!old) return hub_->Warnings(ctx, InHub(object, conversion_), nullptr);
    const Object before = InHub(*old, conversion_);
    return hub_->Warnings(ctx, InHub(object, conversion_), &before);
  }
  bool AllowCreateOnUpdate() const override { return hub_->AllowCreateOnUpdate(); }
  bool AllowUnconditionalUpdate() const override { return hub_->AllowUnconditionalUpdate(); }
  meta::Result<> CheckDelete(const Object& object) const override {
    return hub_->CheckDelete(InHub(object, conversion_));
  }
  bool OrphansByDefault() const override { return hub_->OrphansByDefault(); }
  std::string_view DefaultPropagationWarning() const override { return hub_->DefaultPropagationWarning(); }
  bool HoldsBackDeletion(const Object& object) const override {
    return hub_->HoldsBackDeletion(InHub(object, conversion_));
  }

 private:
  const registry::StrategyPtr hub_;
  const schema::Node& schema_;  // of the hub
  const VersionConversion conversion_;
};

class ConvertingChecks final : public registry::WriteChecks {
 public:
  ConvertingChecks(std::shared_ptr<registry::WriteChecks> hub, VersionConversion conversion)
      : hub_(std::move(hub)), conversion_(std::move(conversion)) {}

  Task<meta::Result<>> CheckCreate(RequestContext ctx, const Object& object) override {
    const Object converted = InHub(object, conversion_);
    co_return co_await hub_->CheckCreate(std::move(ctx), converted);
  }
  Task<meta::Result<>> CheckUpdate(RequestContext ctx, const Object& object, const Object& old) override {
    const Object converted = InHub(object, conversion_), before = InHub(old, conversion_);
    co_return co_await hub_->CheckUpdate(std::move(ctx), converted, before);
  }

 private:
  const std::shared_ptr<registry::WriteChecks> hub_;
  const VersionConversion conversion_;
};

registry::StrategyPtr Converting(registry::StrategyPtr strategy, const registry::Resource& hub,
                                 const VersionConversion& conversion) {
  if (!strategy || !conversion.to_hub) return strategy;
  return std::make_shared<ConvertingStrategy>(std::move(strategy), *hub.schema, conversion);
}

/// Replaces each subresource by that of the hub with the same name. Its verbs stay those of this version.
void TakeSubresources(registry::Resource& made, const registry::Resource& hub, const VersionConversion& conversion) {
  for (registry::Subresource& subresource : made.subresources) {
    const auto of_hub = std::find_if(hub.subresources.begin(), hub.subresources.end(),
                                     [&](const registry::Subresource& one) { return one.name == subresource.name; });
    if (of_hub == hub.subresources.end()) continue;
    subresource.strategy = Converting(of_hub->strategy, hub, conversion);
    subresource.reset_fields = of_hub->reset_fields;
    subresource.create = of_hub->create;
    subresource.connector = of_hub->connector;
  }
}

}  // namespace

registry::Resource InVersion(const registry::Resource& hub, std::string_view version,
                             const VersionConversion& conversion) {
  registry::Resource made = FromTable(hub.gvk.group, version, hub.plural, Converting(hub.strategy, hub, conversion));
  TakeSubresources(made, hub, conversion);
  made.reset_fields = hub.reset_fields;
  made.ttl = hub.ttl;
  made.selectable_fields = hub.selectable_fields;
  made.field_defaults = hub.field_defaults;
  made.validate_name = hub.validate_name;
  made.generation = hub.generation;
  made.hooks = hub.hooks;
  made.returns_deleted_object = hub.returns_deleted_object;
  made.convert = hub.convert;
  made.read_fields = hub.read_fields;
  made.checks = hub.checks;
  made.table = hub.table;
  if (!conversion.to_hub) return made;
  if (hub.checks) made.checks = std::make_shared<ConvertingChecks>(hub.checks, conversion);
  if (hub.table.cells) {
    made.table.reads = {};  // the fields of the hub have other places in this version
    made.table.cells = [cells = hub.table.cells, conversion](const Object& object, meta::Ages& ages) {
      return cells(InHub(object, conversion), ages);
    };
  }
  made.from_stored = conversion.from_hub;
  made.to_stored = conversion.to_hub;
  return made;
}

std::function<std::optional<patch::ManagerInfo::View>(const Object& object, std::string_view api_version)>
ConvertManagedFields(const meta::Gvk& hub, std::string other, VersionConversion conversion) {
  return [hub, other = std::move(other), conversion = std::move(conversion)](
             const Object& object, std::string_view api_version) -> std::optional<patch::ManagerInfo::View> {
    const std::string prefix = hub.group + "/";
    if (!api_version.starts_with(prefix)) return std::nullopt;
    const meta::Gvk kind{hub.group, std::string(api_version.substr(prefix.size())), hub.kind};
    const schema::Node* node = schema::Builtin().FindKind(kind);
    if (!node) return std::nullopt;
    patch::ManagerInfo::View view{node, object};
    const bool from_other = object.ApiVersion() == prefix + other, to_other = kind.version == other;
    if (from_other && !to_other) conversion.to_hub(view.object.Root());
    if (!from_other && to_other) conversion.from_hub(view.object.Root());
    view.object.SetGvk(kind);
    return view;
  };
}

}  // namespace apimesh::core_api
