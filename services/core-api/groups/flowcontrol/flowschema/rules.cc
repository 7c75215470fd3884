#include "services/core-api/groups/flowcontrol/flowschema/rules.h"

#include <algorithm>

#include <fmt/format.h>

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

const std::vector<std::string> kVerbs = {"create", "delete", "deletecollection", "get",  "list",
                                         "patch",  "proxy",  "update",           "watch"};

const json::array& ListAt(const Check& rule, std::string_view field) {
  static const json::array empty;
  const json::value* list = meta::FindField(rule.Object(), field);
  return list && list->is_array() ? list->get_array() : empty;
}

std::string_view TextOf(const json::value& item) {
  return item.is_string() ? std::string_view(item.get_string()) : std::string_view();
}

bool HasWildcard(const json::array& list) {
  return std::any_of(list.begin(), list.end(), [](const json::value& item) { return TextOf(item) == "*"; });
}

/// Checks that a list is not empty, and that "*" is alone. Returns whether the items should be checked.
bool ValidateList(const Check& rule, std::string_view field, const char* missing, const char* others) {
  const json::array& list = ListAt(rule, field);
  if (list.empty()) {
    rule.Add(meta::Required(rule.Path().Child(field).ToString(), missing));
    return false;
  }
  if (!HasWildcard(list)) return true;
  if (list.size() > 1) rule.Invalid(field, fmt::format("if '*' is present, must not specify other {}", others));
  return false;
}

void ValidateVerbs(const Check& rule) {
  if (!ValidateList(rule, "verbs", "verbs must contain at least one value", "verbs")) return;
  const json::array& verbs = ListAt(rule, "verbs");
  const auto known = [](const json::value& verb) {
    return std::find(kVerbs.begin(), kVerbs.end(), TextOf(verb)) != kVerbs.end();
  };
  if (std::all_of(verbs.begin(), verbs.end(), known)) return;
  rule.Add(meta::NotSupported(rule.Path().Child("verbs").ToString(), Shown(meta::FindField(rule.Object(), "verbs")),
                              kVerbs));
}

/// Returns the error about the path of a non-resource URL, or "".
const char* CheckUrl(std::string_view path) {
  if (path.empty()) return "must not be empty";
  if (path == "/") return "";
  if (path[0] != '/') return "must start with slash";
  if (path.find(' ') != std::string_view::npos) return "must not contain white-space";
  if (path.find("//") != std::string_view::npos) return "must not contain double slash";
  const auto stars = std::count(path.begin(), path.end(), '*');
  if (stars > 1 || (stars == 1 && !path.ends_with("/*"))) return "wildcard can only do suffix matching";
  return "";
}

void ValidateNonResourceRule(const Check& rule) {
  ValidateVerbs(rule);
  if (!ValidateList(rule, "nonResourceURLs", "nonResourceURLs must contain at least one value", "non-resource URLs"))
    return;
  const json::array& urls = ListAt(rule, "nonResourceURLs");
  for (std::size_t i = 0; i < urls.size(); ++i) {
    const std::string_view url = TextOf(urls[i]);
    const std::string error = CheckUrl(url);
    if (error.empty()) continue;
    rule.Add(meta::Invalid(rule.Path().Child("nonResourceURLs").Index(i).ToString(), meta::Quoted(url), error));
  }
}

void ValidateNamespaces(const Check& rule) {
  const json::array& names = ListAt(rule, "namespaces");
  if (names.empty() && rule.IsTrue("clusterScope")) return;
  if (!ValidateList(rule, "namespaces", "resource rules that are not cluster scoped must supply at least one namespace",
                    "namespaces")) {
    return;
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string_view name = TextOf(names[i]);
    for (const std::string& complaint : meta::CheckDnsLabel(name)) {
      rule.Add(meta::Invalid(rule.Path().Child("namespaces").Index(i).ToString(), meta::Quoted(name),
                             "each member of this list must be '*' or a DNS-1123 label; " + complaint));
    }
  }
}

void ValidateResourceRule(const Check& rule) {
  ValidateVerbs(rule);
  ValidateList(rule, "apiGroups", "resource rules must supply at least one api group", "api groups");
  ValidateList(rule, "resources", "resource rules must supply at least one resource", "resources");
  ValidateNamespaces(rule);
}

struct SubjectKind {
  const char* kind;
  const char* field;
};
constexpr SubjectKind kSubjectKinds[] = {{"ServiceAccount", "serviceAccount"}, {"User", "user"}, {"Group", "group"}};

void ValidateServiceAccount(const Check& account) {
  if (account.Require("name") && account.Text("name") != "*") account.Names("name", meta::CheckDnsSubdomain);
  if (account.Require("namespace", "must specify namespace for service account"))
    account.Names("namespace", meta::CheckDnsLabel);
}

void ValidateSubject(const Check& subject) {
  const std::string_view kind = subject.Text("kind");
  const auto own = std::find_if(std::begin(kSubjectKinds), std::end(kSubjectKinds),
                                [kind](const SubjectKind& one) { return one.kind == kind; });
  if (own == std::end(kSubjectKinds)) {
    subject.Add(meta::NotSupported(subject.Path().Child("kind").ToString(), meta::Quoted(kind),
                                   {"Group", "ServiceAccount", "User"}));
    return;
  }
  const std::optional<Check> child = subject.Child(own->field);
  if (!child) {
    subject.Add(meta::Required(subject.Path().Child(own->field).ToString(),
                               fmt::format("{} is required when subject kind is '{}'", own->field, own->kind)));
  } else if (kind == "ServiceAccount") {
    ValidateServiceAccount(*child);
  } else {
    child->Require("name");
  }
  for (const SubjectKind& other : kSubjectKinds) {
    if (other.kind != kind)
      subject.Forbid(other.field,
                     fmt::format("{} is forbidden when subject kind is not '{}'", other.field, other.kind));
  }
}

}  // namespace

void ValidateFlowRule(const Check& rule) {
  const Checks subjects = rule.Each("subjects");
  if (subjects.empty()) {
    rule.Add(meta::Required(rule.Path().Child("subjects").ToString(), "subjects must contain at least one value"));
  }
  for (const Check& subject : subjects) ValidateSubject(subject);
  const Checks resource_rules = rule.Each("resourceRules");
  const Checks other_rules = rule.Each("nonResourceRules");
  if (resource_rules.empty() && other_rules.empty()) {
    rule.Add(meta::Required(rule.Path().ToString(),
                            "at least one of resourceRules and nonResourceRules has to be non-empty"));
  }
  for (const Check& one : resource_rules) ValidateResourceRule(one);
  for (const Check& one : other_rules) ValidateNonResourceRule(one);
}

}  // namespace apimesh::core_api
