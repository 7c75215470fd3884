#include "lib/admission/matching/rule.h"

#include <algorithm>

#include "lib/admission/fields.h"

namespace apimesh::admission::matching {
namespace {

constexpr Operation kOperations[] = {Operation::kCreate, Operation::kUpdate, Operation::kDelete, Operation::kConnect};

constexpr unsigned BitOf(Operation operation) { return 1U << static_cast<unsigned>(operation); }

std::vector<std::string> Strings(const json::object& object, std::string_view name) {
  std::vector<std::string> strings;
  for (const json::value& item : ListAt(object, name)) {
    if (item.is_string()) strings.emplace_back(std::string_view(item.get_string()));
  }
  return strings;
}

bool ContainsOrAny(const std::vector<std::string>& items, std::string_view wanted) {
  return std::any_of(items.begin(), items.end(),
                     [wanted](const std::string& item) { return item == "*" || item == wanted; });
}

unsigned OperationsOf(const json::object& rule) {
  unsigned bits = 0;
  for (const std::string& name : Strings(rule, "operations")) {
    for (const Operation operation : kOperations) {
      if (name == "*" || name == ToString(operation)) bits |= BitOf(operation);
    }
  }
  return bits;
}

Rule::Scope ScopeOf(const json::object& rule) {
  if (!Has(rule, "scope")) return Rule::Scope::kAll;
  const std::string_view scope = meta::FindString(rule, "scope");
  if (scope == "*") return Rule::Scope::kAll;
  if (scope == "Cluster") return Rule::Scope::kCluster;
  return scope == "Namespaced" ? Rule::Scope::kNamespaced : Rule::Scope::kUnknown;
}

}  // namespace

Rule::Rule(const json::object& rule)
    : operations_(OperationsOf(rule)),
      scope_(ScopeOf(rule)),
      groups_(Strings(rule, "apiGroups")),
      versions_(Strings(rule, "apiVersions")),
      names_(Strings(rule, "resourceNames")) {
  for (const std::string& resource : Strings(rule, "resources")) {
    const std::size_t slash = resource.find('/');
    resources_.push_back(
        {resource.substr(0, slash), slash == std::string::npos ? std::string() : resource.substr(slash + 1)});
  }
}

bool Rule::Matches(const Attributes& attributes, const meta::Gvr& resource) const {
  return HasOperation(attributes.operation) && ContainsOrAny(groups_, resource.group) &&
         ContainsOrAny(versions_, resource.version) && MatchesResource(resource.resource, attributes.subresource) &&
         MatchesScope(attributes, resource) &&
         (names_.empty() || std::find(names_.begin(), names_.end(), attributes.RequestName()) != names_.end());
}

bool Rule::IsClusterScoped(const Attributes& attributes, const meta::Gvr& resource) {
  // A request for a namespace object has the name of the object as its namespace, although it is cluster-scoped.
  static const meta::Gvr namespaces{"", "v1", "namespaces"};
  return attributes.ns.empty() || resource == namespaces;
}

bool Rule::MatchesScope(const Attributes& attributes, const meta::Gvr& resource) const {
  if (scope_ == Scope::kAll) return true;
  if (scope_ == Scope::kUnknown) return false;
  return IsClusterScoped(attributes, resource) == (scope_ == Scope::kCluster);
}

bool Rule::MatchesResource(std::string_view name, std::string_view subresource) const {
  return std::any_of(resources_.begin(), resources_.end(), [name, subresource](const Resource& resource) {
    return (resource.name == "*" || resource.name == name) &&
           (resource.subresource == "*" || resource.subresource == subresource);
  });
}

}  // namespace apimesh::admission::matching
