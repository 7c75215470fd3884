#include "lib/admission/matching/rule_index.h"

#include <algorithm>

namespace apimesh::admission::matching {

void RuleIndex::AddTo(std::string_view group, std::string_view resource, Item item) {
  std::vector<Item>& items = items_[StoredKey{std::string(group), std::string(resource)}];
  if (items.empty() || items.back() != item) items.push_back(item);
}

void RuleIndex::Add(Item item, const Criteria& criteria) {
  if (criteria.MatchesWithoutRules()) AddTo("*", "*", item);
  for (const Rule& rule : criteria.Rules()) {
    for (const std::string& group : rule.Groups()) {
      for (const Rule::Resource& resource : rule.Resources()) AddTo(group, resource.name, item);
    }
  }
}

template <class Visit>
bool RuleIndex::VisitLists(const Attributes& attributes, Visit visit) const {
  if (items_.empty()) return false;
  const auto look_up = [&](std::string_view group, std::string_view resource) {
    const auto found = items_.find(Key{group, resource});
    return found != items_.end() && visit(found->second);
  };
  const meta::Gvr& requested = attributes.resource;
  if (look_up("*", "*") || look_up("*", requested.resource) || look_up(requested.group, "*") ||
      look_up(requested.group, requested.resource)) {
    return true;
  }
  if (!attributes.versions) return false;
  for (const ResourceVersions::Version& other : attributes.versions->Equivalents(attributes.subresource)) {
    // Versions of the same group are in the same lists.
    if (other.resource.group == requested.group && other.resource.resource == requested.resource) continue;
    if (look_up(other.resource.group, "*") || look_up(other.resource.group, other.resource.resource) ||
        look_up("*", other.resource.resource)) {
      return true;
    }
  }
  return false;
}

bool RuleIndex::Any(const Attributes& attributes) const {
  return VisitLists(attributes, [](const std::vector<Item>&) { return true; });
}

std::vector<RuleIndex::Item> RuleIndex::Candidates(const Attributes& attributes) const {
  std::vector<Item> found;
  VisitLists(attributes, [&found](const std::vector<Item>& items) {
    found.insert(found.end(), items.begin(), items.end());
    return false;
  });
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace apimesh::admission::matching
