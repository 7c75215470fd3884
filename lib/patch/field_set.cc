#include "lib/patch/field_set.h"

#include <algorithm>

namespace apimesh::patch {
namespace {

namespace json = meta::json;
using Entry = FieldSet::Entry;
using Kind = PathElement::Kind;

/// Walks two sorted sets side by side. `both` is called for equal elements, the others for what only one has.
template <class Left, class Right, class Both>
void Zip(const std::vector<Entry>& a, const std::vector<Entry>& b, Left left, Right right, Both both) {
  auto i = a.begin();
  auto j = b.begin();
  while (i != a.end() && j != b.end()) {
    const int order = Compare(i->element, j->element);
    if (order < 0) {
      left(*i++);
    } else if (order > 0) {
      right(*j++);
    } else {
      both(*i++, *j++);
    }
  }
  while (i != a.end()) left(*i++);
  while (j != b.end()) right(*j++);
}

constexpr auto kIgnore = [](const Entry&) {};

const schema::Node* ChildNode(const schema::Node* node, const PathElement& element, bool& named) {
  named = false;
  if (!node) return nullptr;
  if (element.kind == Kind::kKey) return node->type == schema::Type::kList ? node->items : nullptr;
  if (element.kind != Kind::kField) return nullptr;
  if (node->type == schema::Type::kObject) {
    if (const schema::Field* field = node->FindField(element.text)) {
      named = true;
      return field->schema;
    }
  }
  return node->items;
}

}  // namespace

void FieldSet::Append(const PathElement& element, bool member, FieldSet children) {
  if (member || !children.Empty()) entries_.push_back({element, member, std::move(children)});
}

void FieldSet::Sort() {
  if (std::is_sorted(entries_.begin(), entries_.end(),
                     [](const Entry& a, const Entry& b) { return Compare(a.element, b.element) < 0; })) {
    return;
  }
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const Entry& a, const Entry& b) { return Compare(a.element, b.element) < 0; });
  // Shape changes can report one place twice.
  for (std::size_t i = 1; i < entries_.size();) {
    if (!(entries_[i - 1].element == entries_[i].element)) {
      ++i;
      continue;
    }
    entries_[i - 1].member |= entries_[i].member;
    entries_[i - 1].children = entries_[i - 1].children.Union(entries_[i].children);
    entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

const Entry* FieldSet::Find(const PathElement& element) const {
  const auto it = std::lower_bound(entries_.begin(), entries_.end(), element,
                                   [](const Entry& entry, const PathElement& e) { return Compare(entry.element, e) < 0; });
  return it != entries_.end() && it->element == element ? &*it : nullptr;
}

void FieldSet::Insert(const Path& path) {
  FieldSet* set = this;
  for (std::size_t i = 0; i < path.size(); ++i) {
    auto it = std::lower_bound(set->entries_.begin(), set->entries_.end(), path[i],
                               [](const Entry& entry, const PathElement& e) { return Compare(entry.element, e) < 0; });
    if (it == set->entries_.end() || !(it->element == path[i])) it = set->entries_.insert(it, Entry{path[i], false, {}});
    if (i + 1 == path.size()) it->member = true;
    set = &it->children;
  }
}

bool FieldSet::Has(const Path& path) const {
  const FieldSet* set = this;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const Entry* entry = set->Find(path[i]);
    if (!entry) return false;
    if (i + 1 == path.size()) return entry->member;
    set = &entry->children;
  }
  return false;
}

FieldSet FieldSet::Union(const FieldSet& other) const {
  if (other.Empty()) return *this;
  if (Empty()) return other;
  FieldSet out;
  out.entries_.reserve(std::max(entries_.size(), other.entries_.size()));
  const auto take = [&](const Entry& entry) { out.entries_.push_back(entry); };
  Zip(entries_, other.entries_, take, take, [&](const Entry& a, const Entry& b) {
    out.entries_.push_back({a.element, a.member || b.member, a.children.Union(b.children)});
  });
  return out;
}

FieldSet FieldSet::Intersection(const FieldSet& other) const {
  FieldSet out;
  if (Empty() || other.Empty()) return out;
  Zip(entries_, other.entries_, kIgnore, kIgnore, [&](const Entry& a, const Entry& b) {
    out.Append(a.element, a.member && b.member, a.children.Intersection(b.children));
  });
  return out;
}

FieldSet FieldSet::Difference(const FieldSet& other) const {
  if (Empty() || other.Empty()) return *this;
  FieldSet out;
  Zip(
      entries_, other.entries_, [&](const Entry& a) { out.entries_.push_back(a); }, kIgnore,
      [&](const Entry& a, const Entry& b) {
        out.Append(a.element, a.member && !b.member, a.children.Difference(b.children));
      });
  return out;
}

FieldSet FieldSet::RecursiveDifference(const FieldSet& other) const {
  if (Empty() || other.Empty()) return *this;
  FieldSet out;
  Zip(
      entries_, other.entries_, [&](const Entry& a) { out.entries_.push_back(a); }, kIgnore,
      [&](const Entry& a, const Entry& b) {
        if (!b.member) out.Append(a.element, a.member, a.children.RecursiveDifference(b.children));
      });
  return out;
}

FieldSet FieldSet::WithNamedFields(const schema::Node* node) const {
  FieldSet out;
  out.entries_.reserve(entries_.size());
  for (const Entry& entry : entries_) {
    bool named = false;
    const schema::Node* child = ChildNode(node, entry.element, named);
    out.entries_.push_back({entry.element, entry.member || named, entry.children.WithNamedFields(child)});
  }
  return out;
}

void FieldSet::ForEach(const std::function<void(const Path&)>& visit) const {
  Path path;
  ForEachBelow(path, visit);
}

void FieldSet::ForEachBelow(Path& path, const std::function<void(const Path&)>& visit) const {
  for (const bool members : {true, false}) {
    for (const Entry& entry : entries_) {
      if (members && !entry.member) continue;
      path.push_back(entry.element);
      members ? visit(path) : entry.children.ForEachBelow(path, visit);
      path.pop_back();
    }
  }
}

json::object FieldSet::ToJson(const json::storage_ptr& storage) const {
  static constexpr std::string_view kPrefixes[] = {"f:", "k:", "v:", "i:"};
  json::object out(storage);
  out.reserve(entries_.size() + 1);
  std::string key;
  for (const Entry& entry : entries_) {
    key = kPrefixes[static_cast<std::size_t>(entry.element.kind)];
    key += entry.element.text;
    json::object below(storage);
    if (!entry.children.Empty()) {
      if (entry.member) {
        below = json::object(storage);
        below.reserve(entry.children.entries_.size() + 1);
        below.emplace(".", json::object(storage));
        for (auto& [name, value] : entry.children.ToJson(storage)) below.emplace(name, std::move(value));
      } else {
        below = entry.children.ToJson(storage);
      }
    }
    out.emplace(key, std::move(below));
  }
  return out;
}

bool FieldSet::FromJson(const json::object& fields, TextArena& arena) {
  entries_.clear();
  entries_.reserve(fields.size());
  for (const auto& [name, value] : fields) {
    const std::string_view key = name;
    if (key == ".") continue;
    if (key.size() < 2 || key[1] != ':' || !value.is_object()) return false;
    Entry entry;
    entry.element.text = key.substr(2);
    switch (key[0]) {
      case 'f': entry.element.kind = Kind::kField; break;
      case 'k': entry.element.kind = Kind::kKey; break;
      case 'v': entry.element.kind = Kind::kValue; break;
      case 'i': entry.element.kind = Kind::kIndex; break;
      default: continue;  // of a future version
    }
    if (entry.element.kind == Kind::kIndex &&
        (entry.element.text.empty() || entry.element.text.find_first_not_of("0123456789") != std::string_view::npos)) {
      return false;
    }
    if (entry.element.kind == Kind::kKey || entry.element.kind == Kind::kValue) {
      json::error_code error;
      json::value parsed = json::parse(entry.element.text, error);
      if (error || (entry.element.kind == Kind::kKey && !parsed.is_object())) return false;
      if (entry.element.kind == Kind::kKey && parsed.get_object().size() > 1) {
        std::vector<std::pair<std::string_view, const json::value*>> sorted;
        for (const auto& [field, one] : parsed.get_object()) sorted.emplace_back(field, &one);
        if (!std::is_sorted(sorted.begin(), sorted.end())) {
          std::sort(sorted.begin(), sorted.end());
          json::object canonical;
          for (const auto& [field, one] : sorted) canonical.emplace(field, *one);
          entry.element.text = arena.Keep(json::serialize(canonical));
        }
      }
    }
    const json::object& below = value.get_object();
    entry.member = below.empty() || below.contains(".");
    if (!entry.children.FromJson(below, arena)) return false;
    if (entry.children.Empty()) entry.member = true;
    entries_.push_back(std::move(entry));
  }
  Sort();
  return true;
}

}  // namespace apimesh::patch
