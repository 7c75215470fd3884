#include "lib/admission/plugins/mutating_admission_policy/mutator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/admission/fields.h"
#include "lib/admission/plugins/mutating_admission_policy/patch_values.h"
#include "lib/codec/codec.h"
#include "lib/patch/apply/typed.h"
#include "lib/patch/patch.h"

namespace apimesh::admission::mutating_policy {
namespace {

Mutation Failed(std::string error) { return {std::move(error), std::nullopt, {}}; }
Mutation Rejected(meta::ApiError status) {
  std::string message = status.Message();
  return {std::move(message), std::move(status), {}};
}

// Returns the text of the error that strict decoding gives for fields that a built-in kind does not have.
std::string UnknownFields(const json::object& document, const schema::Node& node) {
  if (node.custom) return "";
  json::object copy = document;
  codec::Strictness strict;
  const meta::Result<> decoded = codec::Normalise(copy, node, &strict);
  if (!decoded) return decoded.error().Message();
  return strict.complaints.empty() ? "" : fmt::format("strict decoding error: {}", fmt::join(strict.complaints, ", "));
}

Mutation ApplyJson(const json::object& object, const json::array& operations, const schema::Node& node) {
  json::value document(object);
  if (const auto failure = patch::ApplyJsonPatchOperations(document, operations)) {
    // A patch whose test fails is not applied, and the request goes on.
    if (failure->test_failed) return {"", std::nullopt, object};
    return Failed("JSON Patch: " + failure->text);
  }
  if (!document.is_object()) return Rejected(meta::InternalError("the patched document is no object"));
  std::string unknown = UnknownFields(document.get_object(), node);
  if (!unknown.empty()) return Rejected(meta::InternalError(unknown));
  return {"", std::nullopt, std::move(document.get_object())};
}

Mutation ApplyConfiguration(const json::object& object, json::object configuration, const schema::Node& node) {
  for (const char* field : {"apiVersion", "kind"}) configuration[field] = meta::FindString(object, field);
  patch::TypeErrors errors = patch::ValidateTypes(node, configuration, false);
  if (!errors.empty()) {
    return Failed(fmt::format("error applying patch: failed to convert patch object to typed object: {}",
                              patch::ToString(errors)));
  }
  if (const std::vector<std::string> atomics = patch::AtomicPaths(node, configuration); !atomics.empty()) {
    return Failed(fmt::format(
        "error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: {}",
        fmt::join(atomics, ", ")));
  }
  errors = patch::ValidateTypes(node, object, true);
  if (!errors.empty()) {
    return Failed(fmt::format("error applying patch: failed to convert original object to typed object: {}",
                              patch::ToString(errors)));
  }
  json::object merged = patch::MergeTyped(node, object, configuration, errors);
  if (!errors.empty())
    return Failed(fmt::format("error applying patch: failed to merge patch: {}", patch::ToString(errors)));
  return {"", std::nullopt, std::move(merged)};
}

}  // namespace

Mutator::Mutator(const meta::Object& policy, service::Metrics* metrics, const Clock* clock) {
  const json::object& spec = SpecOf(policy);
  reinvoked_ = meta::FindString(spec, "reinvocationPolicy") == "IfNeeded";
  const ExpressionOptions options{.params = Has(spec, "paramKind"), .authorizer = true};
  ExpressionScope scope(cel::kCurrentMinor, true);
  ForEach(spec, "variables", [&](const json::object& variable) {
    const std::string name(meta::FindString(variable, "name"));
    ExpressionPtr compiled =
        CompileExpression(meta::FindString(variable, "expression"), scope, options, ExpressionResult::kAny);
    scope.AddVariable(name, compiled->program ? compiled->program->ResultType() : nullptr);
    uses_request_ = uses_request_ || compiled->uses_request;
    variables_.push_back({name, std::move(compiled)});
  });
  const bool ignores = meta::FindString(spec, "failurePolicy") == "Ignore";
  conditions_ =
      MatchConditions(&ListAt(spec, "matchConditions"), scope, options,
                      ignores ? MatchConditions::FailurePolicy::kIgnore : MatchConditions::FailurePolicy::kFail,
                      {std::string(policy.Name()), "policy", "validate"}, metrics, clock);
  uses_request_ = uses_request_ || conditions_.UsesRequest();
  ExpressionOptions patch_options = options;
  patch_options.patch_types = true;
  ForEach(spec, "mutations", [&](const json::object& mutation) {
    const bool json_patch = meta::FindString(mutation, "patchType") == "JSONPatch";
    const std::string_view source =
        meta::FindString(mutation, json_patch ? "jsonPatch" : "applyConfiguration", "expression");
    ExpressionPtr compiled =
        CompileExpression(source, scope, patch_options,
                          json_patch ? ExpressionResult::kJsonPatches : ExpressionResult::kApplyConfiguration);
    uses_request_ = uses_request_ || compiled->uses_request;
    mutations_.push_back({json_patch, std::move(compiled)});
  });
}

MatchConditions::Result Mutator::Match(const ExpressionInputs& inputs, cel::Evaluation& evaluation) const {
  if (conditions_.Empty()) return {};
  ExpressionInputs without_namespace = inputs;
  without_namespace.namespace_object = nullptr;
  return conditions_.Match(without_namespace, &variables_, evaluation);
}

Mutation Mutator::Mutate(std::size_t index, const ExpressionInputs& inputs, const meta::Gvk& kind,
                         const ResourceVersions& versions, cel::Evaluation& evaluation) const {
  const Patch& patch = mutations_[index];
  const schema::Node* node = versions.SchemaOf(kind);
  if (!node) {
    return Rejected(meta::ServiceUnavailable(
        fmt::format("Resource kind {} not found. There can be a delay between when CustomResourceDefinitions are "
                    "created and when they are available.",
                    kind.ToString()),
        0));
  }
  if (!patch.expression->program) return Failed(patch.expression->error);
  Activation activation(inputs, &variables_, evaluation, Activation::kBudget);
  const std::optional<Activation::Outcome> outcome = activation.Evaluate(*patch.expression);
  if (!outcome) return Failed(std::string(kOutOfBudget));
  if (outcome->Failed()) return Failed(outcome->error);
  if (patch.json_patch) {
    const Converted<json::array> operations = ToJsonPatch(outcome->value, evaluation.arena);
    if (!operations.error.empty()) return Failed(operations.error);
    return ApplyJson(*inputs.object, operations.value, *node);
  }
  Converted<json::object> configuration = ToApplyConfiguration(outcome->value, evaluation.arena);
  if (!configuration.error.empty()) return Failed(std::move(configuration.error));
  return ApplyConfiguration(*inputs.object, std::move(configuration.value), *node);
}

}  // namespace apimesh::admission::mutating_policy
