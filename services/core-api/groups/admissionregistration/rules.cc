#include "services/core-api/groups/admissionregistration/rules.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "lib/meta/object_meta.h"
#include "services/core-api/validation/texts.h"

namespace apimesh::core_api {
namespace {

using Texts = std::vector<std::string_view>;
using Names = std::set<std::string_view>;

bool HasWildcard(const Texts& texts) { return std::find(texts.begin(), texts.end(), "*") != texts.end(); }

/// Validates a list that must not be empty and must not contain other items beside "*".
Texts ValidateList(const Check& rule, std::string_view field, std::string_view what) {
  Texts texts = TextsOf(rule, field);
  if (texts.empty()) rule.Add(meta::Required(rule.Path().Child(field).ToString(), ""));
  if (texts.size() > 1 && HasWildcard(texts))
    rule.Invalid(field, fmt::format("if '*' is present, must not specify other {}", what));
  return texts;
}

/// Validates one "resource/subresource" against those before it.
void ValidateSubresource(const Check& rule, const meta::Path& path, std::string_view text, Names& resources,
                         Names& subresources) {
  const std::size_t slash = text.find('/');
  const std::string_view resource = text.substr(0, slash), sub = text.substr(slash + 1);
  const auto invalid = [&](std::string detail) {
    rule.Add(meta::Invalid(path.ToString(), meta::Quoted(text), std::move(detail)));
  };
  if (resources.contains(resource)) invalid(fmt::format("if '{}/*' is present, must not specify {}", resource, text));
  if (subresources.contains(sub)) invalid(fmt::format("if '*/{}' is present, must not specify {}", sub, text));
  if (sub == "*") resources.insert(resource);
  if (resource == "*") subresources.insert(sub);
}

void ValidateResourcesOf(const Check& rule) {
  const Texts texts = TextsOf(rule, "resources");
  const meta::Path path = rule.Path().Child("resources");
  if (texts.empty()) rule.Add(meta::Required(path.ToString(), ""));
  Names resources, subresources;
  bool without_subresource = false;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].empty()) {
      rule.Add(meta::Required(path.Index(i).ToString(), ""));
    } else if (texts[i].find('/') == std::string_view::npos) {
      without_subresource = texts[i] != "*";  // as in kube-apiserver, the last one decides
    } else {
      ValidateSubresource(rule, path.Index(i), texts[i], resources, subresources);
    }
  }
  if (texts.size() > 1 && std::find(texts.begin(), texts.end(), "*/*") != texts.end())
    rule.Invalid("resources", "if '*/*' is present, must not specify other resources");
  if (HasWildcard(texts) && without_subresource)
    rule.Invalid("resources", "if '*' is present, must not specify other resources without subresources");
}

void ValidateNamedRule(const Check& rule) {
  Names names;
  std::size_t index = 0;
  for (const std::string_view name : TextsOf(rule, "resourceNames")) {
    const meta::Path path = rule.Path().Child("resourceNames").Index(index++);
    CheckText(rule, path, name, [](std::string_view text) { return meta::CheckPathSegment(text); });
    if (!names.insert(name).second) rule.Add(meta::Duplicate(path.ToString(), meta::Quoted(name)));
  }
  ValidateAdmissionRule(rule);
}

}  // namespace

void ValidateAdmissionRule(const Check& rule) {
  static const std::vector<std::string> kOperations = {"*", "CONNECT", "CREATE", "DELETE", "UPDATE"};
  std::size_t index = 0;
  for (const std::string_view operation : ValidateList(rule, "operations", "operations")) {
    const meta::Path path = rule.Path().Child("operations").Index(index++);
    if (std::find(kOperations.begin(), kOperations.end(), operation) == kOperations.end())
      rule.Add(meta::NotSupported(path.ToString(), meta::Quoted(operation), kOperations));
  }
  ValidateList(rule, "apiGroups", "API groups");
  index = 0;
  for (const std::string_view version : ValidateList(rule, "apiVersions", "API versions")) {
    const meta::Path path = rule.Path().Child("apiVersions").Index(index++);
    if (version.empty()) rule.Add(meta::Required(path.ToString(), ""));
  }
  ValidateResourcesOf(rule);
  ValidateChoice(rule, "scope", {"*", "Cluster", "Namespaced"});
}

void ValidateSelectorOf(const Check& holder, std::string_view field) {
  const std::optional<Check> selector = holder.Child(field);
  if (!selector) return;
  for (meta::FieldError& error : meta::ValidateLabelSelector(selector->Object(), selector->Path()))
    holder.Add(std::move(error));
}

void ValidateMatchConditions(const Check& holder, bool params, const StoredExpressions& stored) {
  constexpr std::size_t kMax = 64;
  const Checks conditions = holder.Each("matchConditions");
  if (conditions.size() > kMax)
    holder.Add(meta::TooMany(holder.Path().Child("matchConditions").ToString(), conditions.size(), kMax));
  Names names;
  ExpressionRules expressions(params, false);
  for (const Check& condition : conditions) {
    if (Trimmed(condition.Text("expression")).empty()) {
      condition.Add(meta::Required(condition.Path().Child("expression").ToString(), ""));
    } else {
      expressions.Check(condition, "expression", {.trimmed = true}, stored);
    }
    condition.RequireName("name", meta::CheckQualifiedName);
    const std::string_view name = condition.Text("name");
    if (!name.empty() && !names.insert(name).second)
      condition.Add(meta::Duplicate(condition.Path().Child("name").ToString(), meta::Quoted(name)));
  }
}

void ValidateMatchResources(const Check& resources) {
  ValidateChoice(resources, "matchPolicy", {"Equivalent", "Exact"});
  ValidateSelectorOf(resources, "namespaceSelector");
  ValidateSelectorOf(resources, "objectSelector");
  for (const Check& rule : resources.Each("resourceRules")) ValidateNamedRule(rule);
  for (const Check& rule : resources.Each("excludeResourceRules")) ValidateNamedRule(rule);
}

void ValidateMutatingOperations(const Check& spec, std::string_view field) {
  static const std::vector<std::string> kOperations = {"*", "CONNECT", "CREATE", "UPDATE"};
  const std::optional<Check> resources = spec.Child(field);
  if (!resources) return;
  const std::string path = resources->Path().Child("resourceRules").Child("operations").ToString();
  for (const Check& rule : resources->Each("resourceRules")) {
    for (const std::string_view operation : TextsOf(rule, "operations")) {
      if (std::find(kOperations.begin(), kOperations.end(), operation) == kOperations.end())
        spec.Add(meta::NotSupported(path, meta::Quoted(operation), kOperations));
    }
  }
}

void ValidateChoice(const Check& holder, std::string_view field, const std::vector<std::string>& values) {
  const std::string_view text = holder.Text(field);
  if (!holder.Has(field) || std::find(values.begin(), values.end(), text) != values.end()) return;
  holder.Add(meta::NotSupported(holder.Path().Child(field).ToString(), meta::Quoted(text), values));
}

std::string_view Trimmed(std::string_view text) {
  constexpr const char* kSpace = " \t\n\v\f\r";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

std::vector<std::string> AdmissionWarnings(const meta::Object& object) {
  std::vector<std::string> warnings;
  constexpr std::string_view kSuffix = ".static.k8s.io";
  if (object.Name().ends_with(kSuffix)) {
    warnings.push_back(
        fmt::format("metadata.name: names ending with {} are reserved for static manifest-based "
                    "configurations and cannot be managed via the API",
                    meta::Quoted(kSuffix)));
  }
  return warnings;
}

}  // namespace apimesh::core_api
