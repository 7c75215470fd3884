#include "services/core-api/groups/admissionregistration/admissionpolicy/validation.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include "lib/base/text/text.h"
#include "lib/meta/equal.h"
#include "services/core-api/groups/admissionregistration/rules.h"
#include "services/core-api/validation/conditions.h"
#include "services/core-api/validation/spec_fields.h"
#include "services/core-api/validation/texts.h"

namespace apimesh::core_api {
namespace {

using Names = std::set<std::string_view>;

constexpr std::size_t kMaxAnnotations = 20, kMaxValueExpression = 5 * 1024;

/// Validates the parts of an apiVersion: its group and its version.
void ValidateApiVersion(const Check& kind) {
  if (!kind.Require("apiVersion")) return;
  const std::string_view text = kind.Text("apiVersion");
  const auto invalid = [&kind](std::string_view value, std::string detail) {
    kind.Add(meta::Invalid(kind.Path().Child("apiVersion").ToString(), meta::Quoted(value), std::move(detail)));
  };
  if (std::count(text.begin(), text.end(), '/') > 1) {
    invalid(text, fmt::format("unexpected GroupVersion string: {}", text));
    return;
  }
  const std::size_t slash = text.find('/');
  const std::string_view group = slash == std::string_view::npos ? "" : text.substr(0, slash);
  const std::string_view version = slash == std::string_view::npos ? text : text.substr(slash + 1);
  if (!group.empty()) {
    const meta::Complaints complaints = meta::CheckDnsSubdomain(group);
    if (!complaints.empty()) invalid(group, fmt::format("{}", fmt::join(complaints, ",")));
  }
  if (version.empty()) {
    invalid(text, "version must be specified");
  } else if (const meta::Complaints complaints = meta::CheckDns1035Label(version); !complaints.empty()) {
    invalid(version, fmt::format("{}", fmt::join(complaints, ",")));
  }
}

void ValidateParamKind(const Check& spec) {
  const std::optional<Check> kind = spec.Child("paramKind");
  if (!kind) return;
  ValidateApiVersion(*kind);
  if (!kind->Require("kind")) return;
  const meta::Complaints complaints = meta::CheckDns1035Label(LowerCase(kind->Text("kind")));
  if (complaints.empty()) return;
  kind->Invalid("kind", fmt::format("may have mixed case, but should otherwise match: {}", fmt::join(complaints, ",")));
}

bool IsCelIdentifier(std::string_view name) {
  static const re2::RE2 pattern("[_a-zA-Z][_a-zA-Z0-9]*");
  static const Names reserved = {"true",     "false",   "null",      "in",       "as",  "break",  "const",
                                 "continue", "else",    "for",       "function", "if",  "import", "let",
                                 "loop",     "package", "namespace", "return",   "var", "void",   "while"};
  return re2::RE2::FullMatch(name, pattern) && !reserved.contains(name);
}

/// Adds "required" if a text is missing or only white space. Returns whether it is present.
bool RequireText(const Check& holder, std::string_view field, std::string detail) {
  if (!Trimmed(holder.Text(field)).empty()) return true;
  holder.Add(meta::Required(holder.Path().Child(field).ToString(), std::move(detail)));
  return false;
}

/// The expressions of a stored policy. A policy that is new has none.
struct Stored {
  StoredExpressions conditions, validations, messages, annotations, patches;
  explicit Stored(const meta::Object* policy) {
    const meta::json::value* found = policy ? meta::FindField(policy->Root(), "spec") : nullptr;
    if (!found || !found->is_object()) return;
    const meta::json::object& spec = found->get_object();
    AddStored(spec, "matchConditions", "expression", conditions);
    AddStored(spec, "validations", "expression", validations);
    AddStored(spec, "validations", "messageExpression", messages);
    AddStored(spec, "auditAnnotations", "valueExpression", annotations);
    const meta::json::value* mutations = meta::FindField(spec, "mutations");
    if (!mutations || !mutations->is_array()) return;
    for (const meta::json::value& mutation : mutations->get_array()) {
      // As in kube-apiserver, JSON patches are compared with stored apply configurations.
      if (mutation.is_object())
        patches.emplace(meta::FindString(mutation.get_object(), "applyConfiguration", "expression"));
    }
  }
};

void ValidateVariables(const Check& spec, ExpressionRules& expressions, const Stored& stored) {
  for (const Check& variable : spec.Each("variables")) {
    if (RequireText(variable, "name", "name is not specified") && !IsCelIdentifier(variable.Text("name")))
      variable.Invalid("name", "must be a valid CEL identifier");
    if (RequireText(variable, "expression", "expression is not specified"))
      expressions.CheckVariable(variable, stored.validations);
  }
}

void ValidateValidations(const Check& spec, ExpressionRules& expressions, const Stored& stored) {
  for (const Check& validation : spec.Each("validations")) {
    if (RequireText(validation, "expression", "expression is not specified"))
      expressions.Check(validation, "expression", {}, stored.validations);
    if (!Trimmed(validation.Text("messageExpression")).empty()) {
      expressions.Check(validation, "messageExpression",
                        {.result = admission::ExpressionResult::kString, .authorizer = false}, stored.messages);
    }
    for (const char* field : {"messageExpression", "message"}) {
      const std::string_view text = validation.Text(field), trimmed = Trimmed(text);
      if (!text.empty() && trimmed.empty()) validation.Invalid(field, "must be non-empty if specified");
      if (field == std::string_view("message") && trimmed.find('\n') != std::string_view::npos)
        validation.Invalid(field, "must not contain line breaks");
    }
    ValidateChoice(validation, "reason", {"Forbidden", "Invalid", "RequestEntityTooLarge"});
  }
}

void ValidateAuditAnnotations(const Check& spec, std::string_view name, ExpressionRules& expressions,
                              const Stored& stored) {
  const Checks annotations = spec.Each("auditAnnotations");
  if (annotations.size() > kMaxAnnotations)
    spec.Invalid("auditAnnotations", fmt::format("must not have more than {} auditAnnotations", kMaxAnnotations));
  Names keys;
  for (const Check& annotation : annotations) {
    const std::string_view key = annotation.Text("key");
    const std::string path = annotation.Path().Child("key").ToString();
    if (name.empty()) {
      annotation.Add(meta::Invalid(path, meta::Quoted(key), "requires metadata.name be non-empty"));
    } else {
      const std::string full = fmt::format("{}/{}", name, key);
      for (std::string& complaint : meta::CheckQualifiedName(full))
        annotation.Add(meta::Invalid(path, meta::Quoted(full), std::move(complaint)));
    }
    const bool present = RequireText(annotation, "valueExpression", "valueExpression is not specified");
    if (present && Trimmed(annotation.Text("valueExpression")).size() > kMaxValueExpression) {
      annotation.Add(meta::Required(annotation.Path().Child("valueExpression").ToString(),
                                    fmt::format("must not exceed {} bytes in length", kMaxValueExpression)));
    } else if (present) {
      expressions.Check(annotation, "valueExpression",
                        {.result = admission::ExpressionResult::kStringOrNull, .trimmed = true, .shown_trimmed = false},
                        stored.annotations);
    }
    if (!keys.insert(key).second) annotation.Add(meta::Duplicate(path, meta::Quoted(key)));
  }
}

void ValidateConstraints(const Check& spec, bool mutating) {
  const std::optional<Check> constraints = spec.Child("matchConstraints");
  const meta::Path path = spec.Path().Child("matchConstraints");
  if (!constraints) {
    spec.Add(meta::Required(path.ToString(), ""));
    return;
  }
  ValidateMatchResources(*constraints);
  if (SizeOf(*constraints, "resourceRules") == 0) spec.Add(meta::Required(path.Child("resourceRules").ToString(), ""));
  if (mutating) ValidateMutatingOperations(spec, "matchConstraints");
}

/// Validates the fields that both kinds of policies have, up to the variables.
void ValidateCommon(const Check& spec, const meta::Object* old, bool mutating, ExpressionRules& expressions,
                    const Stored& stored) {
  ValidateChoice(spec, "failurePolicy", {"Fail", "Ignore"});
  ValidateParamKind(spec);
  ValidateConstraints(spec, mutating);
  // Unchanged conditions are accepted, because an older server may have stored them under different rules.
  const bool same =
      old && meta::Equal(meta::FindField(spec.Object(), "paramKind"), meta::Find(old->Root(), "spec", "paramKind")) &&
      meta::Equal(meta::FindField(spec.Object(), "matchConditions"),
                  meta::Find(old->Root(), "spec", "matchConditions"));
  if (!same) ValidateMatchConditions(spec, spec.Has("paramKind"), stored.conditions);
  ValidateVariables(spec, expressions, stored);
}

void ValidateMutation(const Check& mutation, ExpressionRules& expressions, const Stored& stored) {
  if (!mutation.Require("patchType")) return;
  const std::string_view type = mutation.Text("patchType");
  const bool json_patch = type == "JSONPatch";
  if (!json_patch && type != "ApplyConfiguration") {
    ValidateChoice(mutation, "patchType", {"ApplyConfiguration", "JSONPatch"});
    return;
  }
  const char* wanted = json_patch ? "jsonPatch" : "applyConfiguration";
  const char* other = json_patch ? "applyConfiguration" : "jsonPatch";
  if (const std::optional<Check> patch = mutation.Child(wanted)) {
    if (RequireText(*patch, "expression", "")) {
      expressions.Check(*patch, "expression",
                        {.result = json_patch ? admission::ExpressionResult::kJsonPatches
                                              : admission::ExpressionResult::kApplyConfiguration,
                         .patch_types = true,
                         .trimmed = true},
                        stored.patches);
    }
  } else {
    mutation.Add(meta::Required(mutation.Path().Child(wanted).ToString(),
                                fmt::format("must be specified when patchType is {}", type)));
  }
  if (mutation.Child(other)) {
    mutation.Add(meta::Invalid(mutation.Path().Child(other).ToString(), meta::Quoted(fmt::format("{{{}}}", other)),
                               fmt::format("must not be specified when patchType is {}", type)));
  }
}

}  // namespace

meta::FieldErrors ValidateValidatingPolicy(const meta::Object& policy, const meta::Object* old) {
  meta::FieldErrors errors;
  const Check spec = SpecOf(policy, errors);
  const Stored stored(old);
  ExpressionRules expressions(spec.Has("paramKind"), SizeOf(spec, "variables") > 0);
  ValidateCommon(spec, old, false, expressions, stored);
  if (SizeOf(spec, "validations") == 0 && SizeOf(spec, "auditAnnotations") == 0) {
    constexpr const char* kOne = "validations or auditAnnotations must contain at least one item";
    errors.push_back(meta::Required("spec.validations", kOne));
    errors.push_back(meta::Required("spec.auditAnnotations", kOne));
  }
  ValidateValidations(spec, expressions, stored);
  ValidateAuditAnnotations(spec, policy.Name(), expressions, stored);
  return errors;
}

meta::FieldErrors ValidateMutatingPolicy(const meta::Object& policy, const meta::Object* old) {
  meta::FieldErrors errors;
  const Check spec = SpecOf(policy, errors);
  const Stored stored(old);
  ExpressionRules expressions(spec.Has("paramKind"), true);
  ValidateCommon(spec, old, true, expressions, stored);
  if (SizeOf(spec, "mutations") == 0)
    errors.push_back(meta::Required("spec.mutations", "mutations must contain at least one item"));
  for (const Check& mutation : spec.Each("mutations")) ValidateMutation(mutation, expressions, stored);
  if (spec.Require("reinvocationPolicy")) ValidateChoice(spec, "reinvocationPolicy", {"IfNeeded", "Never"});
  return errors;
}

meta::FieldErrors ValidateValidatingPolicyStatus(const meta::Object& policy) {
  meta::FieldErrors errors;
  const std::optional<Check> status = Check(policy.Root(), meta::Path(), errors).Child("status");
  if (!status) return errors;
  if (const std::optional<Check> checking = status->Child("typeChecking")) {
    for (const Check& warning : checking->Each("expressionWarnings")) {
      warning.Require("warning");
      RequireText(warning, "fieldRef", "");
    }
  }
  ValidateConditions(*status);
  return errors;
}

}  // namespace apimesh::core_api
