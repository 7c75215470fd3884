#include "lib/admission/matching/selector_index.h"

#include "lib/admission/matching/matcher.h"

namespace apimesh::admission::matching {
namespace {

using Op = meta::Requirement::Op;

/// Returns a requirement that only objects with a certain label fulfil, or nullptr if the selector has none. One that
/// names values is better, because fewer objects fulfil it.
const meta::Requirement* RequiredLabel(const meta::LabelSelector& selector) {
  const meta::Requirement* found = nullptr;
  for (const meta::Requirement& one : selector.Requirements()) {
    if (one.op == Op::kIn) return &one;
    if (one.op != Op::kNotIn && one.op != Op::kDoesNotExist) found = &one;
  }
  return found;
}

}  // namespace

void SelectorIndex::ByLabel::Add(Item item, const meta::Requirement& required) {
  Values& values = keys_[required.key];
  if (required.op != Op::kIn) return values.any.push_back(item);
  for (const std::string& value : required.values) {
    std::vector<Item>& items = values.one[value];
    if (items.empty() || items.back() != item) items.push_back(item);
  }
}

void SelectorIndex::ByLabel::Append(const meta::Labels& labels, std::vector<Item>& found) const {
  if (keys_.empty()) return;
  for (const auto& [key, value] : labels) {
    const auto values = keys_.find(std::string_view(key));
    if (values == keys_.end()) continue;
    found.insert(found.end(), values->second.any.begin(), values->second.any.end());
    const auto items = values->second.one.find(std::string_view(value));
    if (items != values->second.one.end()) found.insert(found.end(), items->second.begin(), items->second.end());
  }
}

void SelectorIndex::ByLabel::AppendAll(std::vector<Item>& found) const {
  for (const auto& [key, values] : keys_) {
    found.insert(found.end(), values.any.begin(), values.any.end());
    for (const auto& [value, items] : values.one) found.insert(found.end(), items.begin(), items.end());
  }
}

void SelectorIndex::Add(Item item, const meta::LabelSelector& namespaces, const meta::LabelSelector& objects) {
  if (namespaces.Empty() && objects.Empty()) return AddUnconditional(item);
  if (!selective_) selective_ = std::make_unique<Selective>();
  Selective& to = *selective_;
  to.selects_namespaces = to.selects_namespaces || !namespaces.Empty();
  const meta::Requirement* const of_object = RequiredLabel(objects);
  const meta::Requirement* const of_namespace = RequiredLabel(namespaces);
  const auto names_values = [](const meta::Requirement* required) { return required && required->op == Op::kIn; };
  if (names_values(of_object) || (of_object && !names_values(of_namespace))) return to.by_object.Add(item, *of_object);
  if (of_namespace) return to.by_namespace.Add(item, *of_namespace);
  std::string text = namespaces.ToString() + '\n' + objects.ToString();
  const auto [found, added] = to.group_numbers.try_emplace(std::move(text), to.groups.size());
  if (added) to.groups.push_back({namespaces, objects, {}});
  to.groups[found->second].items.push_back(item);
}

void SelectorIndex::Append(const Attributes& attributes, RequestLabels& labels, std::vector<Item>& found) const {
  found.insert(found.end(), unconditional_.begin(), unconditional_.end());
  if (!selective_) return;
  const Selective& from = *selective_;
  const meta::Labels* const object = labels.Object();
  const meta::Labels* const old_object = labels.OldObject();
  if (object) from.by_object.Append(*object, found);
  if (old_object) from.by_object.Append(*old_object, found);
  const meta::Labels* const ns = Matcher::KnownNamespaceLabels(attributes, labels);
  if (ns) {
    from.by_namespace.Append(*ns, found);
  } else {
    from.by_namespace.AppendAll(found);
  }
  for (const Group& group : from.groups) {
    const bool selects_object = group.objects.Empty() || (object && group.objects.Matches(*object)) ||
                                (old_object && group.objects.Matches(*old_object));
    if (selects_object && (!ns || group.namespaces.Matches(*ns)))
      found.insert(found.end(), group.items.begin(), group.items.end());
  }
}

}  // namespace apimesh::admission::matching
