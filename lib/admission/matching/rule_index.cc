#include "lib/admission/matching/rule_index.h"

#include <algorithm>
#include <utility>

#include "lib/admission/matching/matcher.h"

namespace apimesh::admission::matching {
namespace {

constexpr std::string_view kAny = "*";
constexpr unsigned kGroup = 1, kResource = 2, kSubresource = 4, kShapes = 8;  // parts of a key that can be "*"
constexpr Operation kOperations[] = {Operation::kCreate, Operation::kUpdate, Operation::kDelete, Operation::kConnect};

unsigned ShapeOf(std::string_view group, std::string_view resource, std::string_view subresource) {
  return (group == kAny ? kGroup : 0) | (resource == kAny ? kResource : 0) | (subresource == kAny ? kSubresource : 0);
}

unsigned SlotOf(Operation operation, bool cluster_scoped) {
  return 1U << (static_cast<unsigned>(operation) * 2 + (cluster_scoped ? 1 : 0));
}

unsigned SlotsOf(const Rule& rule) {
  unsigned slots = 0;
  for (const Operation operation : kOperations) {
    if (!rule.HasOperation(operation)) continue;
    if (rule.GetScope() == Rule::Scope::kAll || rule.GetScope() == Rule::Scope::kCluster)
      slots |= SlotOf(operation, true);
    if (rule.GetScope() == Rule::Scope::kAll || rule.GetScope() == Rule::Scope::kNamespaced)
      slots |= SlotOf(operation, false);
  }
  return slots;
}

}  // namespace

std::size_t RuleIndex::Hash::operator()(const Key& key) const {
  const std::hash<std::string_view> hash;
  return (hash(key.group) * 31 + hash(key.resource)) * 31 + hash(key.subresource);
}

void RuleIndex::AddTo(StoredKey key, unsigned slots, Item item, const Criteria& criteria) {
  shapes_ |= 1U << ShapeOf(key.group, key.resource, key.subresource);
  std::vector<Part>& parts = entries_[std::move(key)];
  auto part = std::find_if(parts.begin(), parts.end(), [slots](const Part& one) { return one.slots == slots; });
  if (part == parts.end()) {
    part = parts.insert(part, {slots, item, {}});
  } else if (std::exchange(part->last, item) == item) {
    return;
  }
  // A request that matches criteria with an invalid selector must fail, so labels must not exclude it.
  if (!criteria.SelectorError().empty()) return part->items.AddUnconditional(item);
  part->items.Add(item, criteria.NamespaceSelector(), criteria.ObjectSelector());
}

void RuleIndex::Add(Item item, const Criteria& criteria) {
  const std::string any(kAny);
  if (criteria.MatchesWithoutRules()) AddTo({any, any, any}, ~0U, item, criteria);
  for (const Rule& rule : criteria.Rules()) {
    const unsigned slots = SlotsOf(rule);
    if (slots == 0) continue;
    for (const std::string& group : rule.Groups()) {
      for (const Rule::Resource& resource : rule.Resources())
        AddTo({group, resource.name, resource.subresource}, slots, item, criteria);
    }
  }
}

template <class Visit>
bool RuleIndex::VisitLists(const Attributes& attributes, Visit visit) const {
  if (entries_.empty()) return false;
  const meta::Gvr& requested = attributes.resource;
  const auto look_up = [&](const meta::Gvr& resource) {
    const unsigned slot = SlotOf(attributes.operation, Rule::IsClusterScoped(attributes, resource));
    for (unsigned shape = 0; shape < kShapes; ++shape) {
      if ((shapes_ & (1U << shape)) == 0) continue;
      const Key key{shape & kGroup ? kAny : std::string_view(resource.group),
                    shape & kResource ? kAny : std::string_view(resource.resource),
                    shape & kSubresource ? kAny : std::string_view(attributes.subresource)};
      const auto found = entries_.find(key);
      if (found == entries_.end()) continue;
      for (const Part& part : found->second) {
        if ((part.slots & slot) != 0 && visit(part.items)) return true;
      }
    }
    return false;
  };
  if (look_up(requested)) return true;
  if (!attributes.versions) return false;
  for (const ResourceVersions::Version& other : attributes.versions->Equivalents(attributes.subresource)) {
    // Versions of the same group are in the same lists.
    if (other.resource.group == requested.group && other.resource.resource == requested.resource) continue;
    if (look_up(other.resource)) return true;
  }
  return false;
}

bool RuleIndex::Any(const Attributes& attributes) const {
  return VisitLists(attributes, [](const SelectorIndex&) { return true; });
}

bool RuleIndex::NeedsNamespace(const Attributes& attributes, const RequestLabels& labels) const {
  if (!Matcher::NeedsNamespaceLabels(attributes, labels)) return false;
  return VisitLists(attributes, [](const SelectorIndex& items) { return items.SelectsNamespaces(); });
}

std::vector<RuleIndex::Item> RuleIndex::Candidates(const Attributes& attributes, RequestLabels& labels) const {
  std::vector<Item> found;
  VisitLists(attributes, [&](const SelectorIndex& items) {
    items.Append(attributes, labels, found);
    return false;
  });
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace apimesh::admission::matching
