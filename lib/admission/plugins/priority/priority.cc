#include "lib/admission/plugins/priority/priority.h"

#include <fmt/format.h>

#include "lib/admission/fields.h"

namespace apimesh::admission {
namespace {

using meta::FindString;

const meta::Gvr kPriorityClasses{"scheduling.k8s.io", "v1", "priorityclasses"};

struct ResolvedPriority {
  std::string class_name;
  std::int64_t value = 0;
  std::string preemption_policy = "PreemptLowerPriority";  // "": the class has none
};

ResolvedPriority FromClass(const meta::Object& priority_class) {
  return {std::string(priority_class.Name()), NumberAt(priority_class.Root(), "value").value_or(0),
          std::string(FindString(priority_class.Root(), "preemptionPolicy"))};
}

class Priority final : public Plugin {
 public:
  explicit Priority(ObjectsPtr objects) : objects_(std::move(objects)) {}

  bool Handles(Phase phase, const Attributes& attributes) const override {
    if (attributes.operation != Operation::kCreate && attributes.operation != Operation::kUpdate) return false;
    if (phase == Phase::kMutate) return IsPod(attributes);
    return attributes.subresource.empty() && IsResource(attributes, "scheduling.k8s.io", "priorityclasses") &&
           BoolAt(attributes.object->Root(), "globalDefault").value_or(false);
  }

  Task<meta::Result<>> Mutate(meta::RequestContext ctx, Attributes& attributes) override {
    json::object& spec = SpecOf(*attributes.object);
    if (attributes.operation == Operation::kUpdate) {
      // Clients may leave out what this plugin has set when the pod was created.
      for (const char* field : {"priority", "preemptionPolicy"}) {
        const json::value* old = meta::FindField(SpecOf(*attributes.old_object), field);
        if (old && !old->is_null() && !Has(spec, field)) spec[field] = *old;
      }
      co_return meta::Result<>();
    }
    ASSIGN_OR_CO_RETURN(const ResolvedPriority resolved, co_await Resolve(ctx, attributes));
    co_return Apply(resolved, attributes, spec);
  }

  Task<meta::Result<>> Validate(meta::RequestContext ctx, const Attributes& attributes) override {
    meta::Result<ObjectPtr> current = co_await FindDefault(ctx);
    if (!current) co_return PlainError("failed to get default priority class: " + current.error().Message());
    const bool other =
        *current && (attributes.operation == Operation::kCreate || (*current)->Name() != attributes.object->Name());
    if (!other) co_return meta::Result<>();
    co_return Forbidden(attributes, fmt::format("PriorityClass {} is already marked as default. Only one default can "
                                                "exist",
                                                (*current)->Name()));
  }

 private:
  static meta::Result<> Apply(const ResolvedPriority& resolved, const Attributes& attributes, json::object& spec) {
    if (!resolved.class_name.empty()) spec["priorityClassName"] = resolved.class_name;
    const std::optional<std::int64_t> given = NumberAt(spec, "priority");
    if (given && *given != resolved.value) {
      return Forbidden(attributes,
                       fmt::format("the integer value of priority ({}) must not be provided in pod spec; priority "
                                   "admission controller computed {} from the given PriorityClass name",
                                   *given, resolved.value));
    }
    spec["priority"] = resolved.value;
    if (resolved.preemption_policy.empty()) return {};
    const std::string_view policy = FindString(spec, "preemptionPolicy");
    if (Has(spec, "preemptionPolicy") && policy != resolved.preemption_policy) {
      return Forbidden(attributes,
                       fmt::format("the string value of PreemptionPolicy ({}) must not be provided in pod spec; "
                                   "priority admission controller computed {} from the given PriorityClass name",
                                   policy, resolved.preemption_policy));
    }
    spec["preemptionPolicy"] = resolved.preemption_policy;
    return {};
  }

  Task<meta::Result<ResolvedPriority>> Resolve(meta::RequestContext ctx, const Attributes& attributes) {
    const std::string name(FindString(SpecOf(*attributes.object), "priorityClassName"));
    if (name.empty()) {
      const meta::Result<ObjectPtr> found = co_await FindDefault(ctx);
      if (!found)
        co_return PlainError("error occurred while retrieving default priority class: " + found.error().Message());
      co_return *found ? FromClass(**found) : ResolvedPriority();
    }
    if (!objects_) co_return PlainError("priority classes cannot be read here");
    const meta::Result<ObjectPtr> found =
        co_await objects_->Get(ctx, kPriorityClasses, "", name, Read::kCachedElseNewest);
    if (found) co_return FromClass(**found);
    if (found.error().Is(meta::Reason::kNotFound))
      co_return Forbidden(attributes, fmt::format("no PriorityClass with name {} was found", name));
    co_return PlainError(
        fmt::format("failed to resolve PriorityClass with name {}: {}", name, found.error().Message()));
  }

  /// Returns the class that is marked as the default, or nullptr. If two requests have each created one at the same
  /// time, the one with the lowest value counts.
  Task<meta::Result<ObjectPtr>> FindDefault(meta::RequestContext ctx) {
    if (!objects_) co_return PlainError("priority classes cannot be read here");
    meta::LabelSelector all;
    ASSIGN_OR_CO_RETURN(const std::vector<ObjectPtr> classes,
                        co_await objects_->List(ctx, kPriorityClasses, "", all, Read::kCached));
    ObjectPtr lowest;
    for (const ObjectPtr& one : classes) {
      if (!BoolAt(one->Root(), "globalDefault").value_or(false)) continue;
      const auto value = [](const ObjectPtr& priority) { return NumberAt(priority->Root(), "value").value_or(0); };
      if (!lowest || value(one) < value(lowest)) lowest = one;
    }
    co_return lowest;
  }

  const ObjectsPtr objects_;
};

}  // namespace

std::unique_ptr<Plugin> MakePriority(const PluginInputs& inputs) { return std::make_unique<Priority>(inputs.objects); }

}  // namespace apimesh::admission
