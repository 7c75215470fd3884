#include "services/extensions-api/custom_resources/strategy.h"

#include <algorithm>

#include <fmt/format.h>

#include "lib/meta/equal.h"
#include "lib/meta/names.h"
#include "lib/registry/object_meta.h"
#include "lib/schema/defaults.h"
#include "lib/schema/duplicates.h"
#include "lib/schema/validation.h"
#include "services/extensions-api/custom_resources/scale_rules.h"
#include "services/extensions-api/validations/evaluation.h"

namespace apimesh::extensions_api {
namespace {

namespace json = meta::json;
using meta::FieldErrors;

void WarnOfFinalizers(const meta::Object& object, const meta::Object* old, std::vector<std::string>& warnings) {
  std::vector<std::string> before = old ? registry::Finalizers(*old) : std::vector<std::string>();
  std::sort(before.begin(), before.end());
  for (const std::string& name : registry::Finalizers(object)) {
    if (std::binary_search(before.begin(), before.end(), name)) continue;
    const std::string start = fmt::format("metadata.finalizers: {}: ", meta::Quoted(name));
    for (const std::string& complaint : meta::CheckQualifiedName(name)) warnings.push_back(start + complaint);
    if (name.find('/') != std::string::npos || name == "orphan" || name == "foregroundDeletion" || name == "kubernetes")
      continue;
    warnings.push_back(
        start +
        (name.find('.') != std::string::npos
             ? "prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other "
               "finalizer writers"
             : "prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers"));
  }
}

/// Removes the status that a client has set. Readers see the default of the status, if it has one.
void ResetStatus(json::object& root, const schema::Node& node) {
  meta::EraseField(root, "status");
  const schema::Field* field = node.FindField("status");
  if (!field || !field->default_value) return;
  root["status"] = *field->default_value;
  json::value& status = root["status"];
  if (status.is_object()) schema::ApplyDefaults(status.get_object(), *field->schema);
}

/// Rules are not evaluated for an object with errors that can make them fail, such as values of wrong types. In this
/// case an error says so.
bool MayEvaluate(FieldErrors& errors) {
  using Type = meta::FieldError::Type;
  const bool blocked = errors.Full() || std::any_of(errors.begin(), errors.end(), [](const meta::FieldError& error) {
                         return error.type == Type::kNotSupported || error.type == Type::kRequired ||
                                error.type == Type::kTooLong || error.type == Type::kTooMany ||
                                error.type == Type::kTypeInvalid;
                       });
  if (blocked) {
    errors.push_back(meta::Invalid("<nil>", "null",
                                   "some validation rules were not checked because the object was invalid; correct the "
                                   "existing errors to complete validation"));
  }
  return !blocked;
}

/// A write that is tried again is validated again.
void WarnOnce(const meta::RequestContext& ctx, std::string text) {
  const std::vector<std::string>& warnings = ctx.Warnings();
  if (std::find(warnings.begin(), warnings.end(), text) == warnings.end()) ctx.Warn(std::move(text));
}

class CustomStrategy : public registry::Strategy {
 public:
  explicit CustomStrategy(CustomStrategyOptions options) : options_(std::move(options)) {}

  void PrepareForCreate(const meta::RequestContext&, meta::Object& object) const override {
    if (options_.has_status) ResetStatus(object.Root(), *options_.node);
  }
  void PrepareForUpdate(const meta::RequestContext&, meta::Object& object, const meta::Object& old) const override {
    const json::value* before = meta::FindField(old.Root(), "status");
    if (options_.has_status) {
      if (before) {
        object.Root()["status"] = *before;
      } else {
        ResetStatus(object.Root(), *options_.node);
      }
      return;
    }
    // Without the subresource, status is an ordinary field, and its changes increase the generation.
    const json::value* now = meta::FindField(object.Root(), "status");
    if (!meta::Equal(now, before)) object.SetMeta("generation", old.Generation() + 1);
  }
  FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    FieldErrors errors = schema::ValidateCustomResource(object.Root(), *options_.node);
    CheckScale(object, errors);
    errors.Append(schema::FindDuplicates(object.Root(), *options_.node));
    if (options_.rules && MayEvaluate(errors)) {
      RuleEvaluation evaluation(nullptr, nullptr);
      errors.Append(Evaluate(evaluation, object, nullptr));
    }
    return errors;
  }
  FieldErrors ValidateUpdate(const meta::RequestContext& ctx, const meta::Object& object,
                             const meta::Object& old) const override {
    schema::Correlation correlation;
    FieldErrors errors = schema::ValidateCustomResourceUpdate(object.Root(), old.Root(), *options_.node, correlation);
    CheckScale(object, errors);
    CheckListsAndRules(ctx, object, old, correlation, errors);
    return errors;
  }
  std::vector<std::string> Warnings(const meta::RequestContext&, const meta::Object& object,
                                    const meta::Object* old) const override {
    std::vector<std::string> warnings;
    WarnOfFinalizers(object, old, warnings);
    return warnings;
  }
  bool AllowUnconditionalUpdate() const override { return false; }

 protected:
  FieldErrors Evaluate(RuleEvaluation& evaluation, const meta::Object& object, const meta::Object* old) const {
    const RuleTree& rules = options_.rules->Get();
    return options_.metrics.MeasureEvaluation([&] {
      evaluation.CheckResource(rules, object.Root(), old ? &old->Root() : nullptr);
      return evaluation.TakeErrors();
    });
  }
  /// Duplicates are errors unless the old object has some too.
  void CheckListsAndRules(const meta::RequestContext& ctx, const meta::Object& object, const meta::Object& old,
                          schema::Correlation& correlation, FieldErrors& errors) const {
    FieldErrors duplicates = schema::FindDuplicates(object.Root(), *options_.node);
    if (!duplicates.empty() && schema::FindDuplicates(old.Root(), *options_.node).empty())
      errors.Append(std::move(duplicates));
    if (!options_.rules || !MayEvaluate(errors)) return;
    RuleEvaluation evaluation(&correlation, [&ctx](std::string text) { WarnOnce(ctx, std::move(text)); });
    errors.Append(Evaluate(evaluation, object, &old));
  }
  void CheckScale(const meta::Object& object, FieldErrors& errors) const {
    if (!options_.scale) return;
    CheckScaleSpec(object.Root(), *options_.scale, errors);
    CheckScaleStatus(object.Root(), *options_.scale, errors);
  }
  const CustomStrategyOptions options_;
};

class CustomStatusStrategy final : public CustomStrategy {
 public:
  using CustomStrategy::CustomStrategy;

  void PrepareForUpdate(const meta::RequestContext&, meta::Object& object, const meta::Object& old) const override {
    meta::Object kept = old;
    const auto take = [](json::object& to, const json::object& from, std::string_view field) {
      if (const json::value* value = meta::FindField(from, field)) {
        to[json::string_view(field.data(), field.size())] = *value;
      } else {
        meta::EraseField(to, field);
      }
    };
    take(kept.Root(), object.Root(), "status");
    take(kept.Metadata(), object.Metadata(), "managedFields");
    object = std::move(kept);
  }
  FieldErrors ValidateUpdate(const meta::RequestContext& ctx, const meta::Object& object,
                             const meta::Object& old) const override {
    schema::Correlation correlation;
    FieldErrors errors = schema::ValidateStatusUpdate(object.Root(), old.Root(), *options_.node, correlation);
    if (options_.scale) CheckScaleStatus(object.Root(), *options_.scale, errors);
    CheckListsAndRules(ctx, object, old, correlation, errors);
    return errors;
  }
  std::vector<std::string> Warnings(const meta::RequestContext&, const meta::Object&,
                                    const meta::Object*) const override {
    return {};
  }
};

}  // namespace

registry::StrategyPtr MakeCustomStrategy(CustomStrategyOptions options) {
  return std::make_shared<CustomStrategy>(std::move(options));
}
registry::StrategyPtr MakeCustomStatusStrategy(CustomStrategyOptions options) {
  return std::make_shared<CustomStatusStrategy>(std::move(options));
}

}  // namespace apimesh::extensions_api
