#include "lib/admission/plugins/runtime_class/runtime_class.h"

#include <fmt/format.h>

#include "lib/admission/fields.h"
#include "lib/admission/pod_resources.h"
#include "lib/admission/tolerations.h"

namespace apimesh::admission {
namespace {

constexpr std::string_view kOtherOverhead =
    "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

const json::object& FixedOverhead(const meta::Object& runtime_class) {
  return ObjectAt(ObjectAt(runtime_class.Root(), "overhead"), "podFixed");
}

meta::Result<> SetOverhead(const Attributes& attributes, const meta::Object& runtime_class, json::object& spec) {
  if (!Has(runtime_class.Root(), "overhead")) return {};
  const json::object &fixed = FixedOverhead(runtime_class), &given = ObjectAt(spec, "overhead");
  if (!given.empty() && ReadAmounts(given) != ReadAmounts(fixed)) return Forbidden(attributes, kOtherOverhead);
  if (fixed.empty()) {
    meta::EraseField(spec, "overhead");
  } else {
    spec["overhead"] = fixed;
  }
  return {};
}

meta::Result<> SetScheduling(const Attributes& attributes, const meta::Object& runtime_class, json::object& spec) {
  if (!Has(runtime_class.Root(), "scheduling")) return {};
  const json::object& scheduling = ObjectAt(runtime_class.Root(), "scheduling");
  for (const auto& label : ObjectAt(scheduling, "nodeSelector")) {
    const std::string_view key = label.key();
    const json::value* given = meta::FindField(ObjectAt(spec, "nodeSelector"), key);
    if (given && !SemanticallyEqual(given, &label.value())) {
      const auto text = [](const json::value& value) { return std::string_view(value.as_string()); };
      return Forbidden(attributes,
                       fmt::format("conflict: runtimeClass.scheduling.nodeSelector[{}] = {}; pod.spec.nodeSelector[{}] "
                                   "= {}",
                                   key, text(label.value()), key, given->is_string() ? text(*given) : ""));
    }
    if (!given) meta::MakeObject(spec, "nodeSelector")[key] = label.value();
  }
  const json::array& tolerations = ListAt(scheduling, "tolerations");
  if (!tolerations.empty()) MergeTolerations(spec, tolerations);
  return {};
}

class RuntimeClass final : public Plugin {
 public:
  explicit RuntimeClass(ObjectsPtr objects) : objects_(std::move(objects)) {}

  bool Handles(Phase phase, const Attributes& attributes) const override {
    if (attributes.operation != Operation::kCreate || !IsPod(attributes)) return false;
    const json::object& spec = SpecOf(std::as_const(*attributes.object));
    return Has(spec, "runtimeClassName") || (phase == Phase::kValidate && Has(spec, "overhead"));
  }

  Task<meta::Result<>> Mutate(meta::RequestContext ctx, Attributes& attributes) override {
    ASSIGN_OR_CO_RETURN(const ObjectPtr runtime_class, co_await Find(ctx, attributes));
    json::object& spec = SpecOf(*attributes.object);
    CO_RETURN_IF_ERROR(SetOverhead(attributes, *runtime_class, spec));
    co_return SetScheduling(attributes, *runtime_class, spec);
  }

  Task<meta::Result<>> Validate(meta::RequestContext ctx, const Attributes& attributes) override {
    const json::object& spec = SpecOf(std::as_const(*attributes.object));
    if (Has(spec, "runtimeClassName")) {
      ASSIGN_OR_CO_RETURN(const ObjectPtr runtime_class, co_await Find(ctx, attributes));
      if (Has(runtime_class->Root(), "overhead")) {
        const bool same = ReadAmounts(FixedOverhead(*runtime_class)) == ReadAmounts(ObjectAt(spec, "overhead"));
        if (!same) co_return Forbidden(attributes, kOtherOverhead);
        co_return meta::Result<>();
      }
    }
    if (Has(spec, "overhead")) {
      co_return Forbidden(attributes,
                          "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead");
    }
    co_return meta::Result<>();
  }

 private:
  Task<meta::Result<ObjectPtr>> Find(meta::RequestContext ctx, const Attributes& attributes) {
    if (!objects_) co_return PlainError("runtime classes cannot be read here");
    const meta::Gvr resource{"node.k8s.io", "v1", "runtimeclasses"};
    const std::string name(meta::FindString(SpecOf(std::as_const(*attributes.object)), "runtimeClassName"));
    if (std::string error = InvalidNameError(name); !error.empty()) co_return PlainError(std::move(error));
    const meta::Result<ObjectPtr> found = co_await objects_->Get(ctx, resource, "", name, Read::kCachedElseNewest);
    if (found || !found.error().Is(meta::Reason::kNotFound)) co_return found;
    co_return Forbidden(attributes, fmt::format("pod rejected: RuntimeClass {} not found", meta::Quoted(name)));
  }

  const ObjectsPtr objects_;
};

}  // namespace

std::unique_ptr<Plugin> MakeRuntimeClass(const PluginInputs& inputs) {
  return std::make_unique<RuntimeClass>(inputs.objects);
}

}  // namespace apimesh::admission
