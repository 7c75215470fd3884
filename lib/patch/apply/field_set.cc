#include "lib/patch/apply/field_set.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "lib/base/text/sort_by_text.h"
#include "lib/patch/element_order.h"

namespace apimesh::patch {
namespace {

namespace json = meta::json;
using Entry = FieldSet::Entry;
using Kind = PathElement::Kind;

/// Iterates over two sorted sets in parallel. `both` is called for equal elements, `left` and `right` for elements that
/// only one set has.
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

/// Returns whether looking up each entry of `a` in `b` is cheaper than iterating over both. Thousands of managers may
/// own one field each, and each of these sets is compared with the thousands of fields that a request changes.
bool IsMuchSmaller(const std::vector<Entry>& a, const std::vector<Entry>& b) { return a.size() * 32 < b.size(); }

template <class Iterator>
Iterator LowerBound(Iterator first, Iterator last, const PathElement& element) {
  return std::lower_bound(first, last, element,
                          [](const Entry& entry, const PathElement& e) { return Compare(entry.element, e) < 0; });
}

/// Returns whether a text is {"a":"x","b":80} in its simplest encoding: sorted names, strings without escapes,
/// integers. Such a text need not be parsed.
bool IsCanonicalKey(std::string_view text) {
  if (!text.starts_with('{') || !text.ends_with('}')) return false;
  std::size_t at = 0;
  std::string_view last_name;
  const auto quoted = [&]() -> std::optional<std::string_view> {
    if (at >= text.size() || text[at] != '"') return std::nullopt;
    const std::size_t start = ++at;
    while (at < text.size() && text[at] != '"') {
      if (text[at] == '\\' || static_cast<unsigned char>(text[at]) < 0x20) return std::nullopt;
      ++at;
    }
    return at < text.size() ? std::optional(text.substr(start, at++ - start)) : std::nullopt;
  };
  do {
    ++at;  // the brace or the comma
    const std::optional<std::string_view> name = quoted();
    if (!name || *name <= last_name || at >= text.size() || text[at++] != ':') return false;
    last_name = *name;
    if (at < text.size() && text[at] == '"') {
      if (!quoted()) return false;
    } else {
      const std::size_t start = at;
      while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
      if (at == start || at - start > 18 || (text[start] == '0' && at - start > 1)) return false;
    }
  } while (at < text.size() && text[at] == ',');
  return at + 1 == text.size();
}

/// Returns whether a text is a string without escapes or an integer. Such a text need not be parsed.
bool IsCanonicalValue(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    const std::string_view content = text.substr(1, text.size() - 2);
    return std::all_of(content.begin(), content.end(),
                       [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\'; });
  }
  if (text.starts_with('-')) text.remove_prefix(1);
  const bool digits = std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  return digits && !text.empty() && text.size() <= 18 && (text.front() != '0' || text.size() == 1);
}

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

void FieldSet::Reserve(std::size_t entries) { entries_.reserve(entries); }

void FieldSet::Sort() {
  constexpr std::size_t kMany = 32;
  if (entries_.size() > kMany && SortByKeys()) return;
  const auto unordered = [](const Entry& a, const Entry& b) { return Compare(a.element, b.element) >= 0; };
  if (std::adjacent_find(entries_.begin(), entries_.end(), unordered) == entries_.end()) return;
  std::sort(entries_.begin(), entries_.end(),
            [](const Entry& a, const Entry& b) { return Compare(a.element, b.element) < 0; });
  UniteEqual();
}

/// Sorts by sort keys and moves each entry once. Returns false if the entries have no sort keys.
bool FieldSet::SortByKeys() {
  std::vector<OrderKey> keys = OrderKeys(entries_);
  if (keys.empty()) return false;
  const auto compare = [this](const OrderKey& a, const OrderKey& b) {
    if (a.number != b.number) return a.number < b.number ? -1 : 1;
    return a.index == b.index ? 0 : Compare(entries_[a.index].element, entries_[b.index].element);
  };
  const auto unordered = [&](const OrderKey& a, const OrderKey& b) { return compare(a, b) >= 0; };
  if (std::adjacent_find(keys.begin(), keys.end(), unordered) == keys.end()) return true;
  std::sort(keys.begin(), keys.end(), [&](const OrderKey& a, const OrderKey& b) { return compare(a, b) < 0; });
  const bool repeated = std::adjacent_find(keys.begin(), keys.end(), unordered) != keys.end();
  for (std::uint32_t start = 0; start < keys.size(); ++start) {  // one cycle of the permutation per iteration
    if (keys[start].index == start) continue;
    Entry first = std::move(entries_[start]);
    std::uint32_t at = start;
    for (std::uint32_t from = keys[at].index; from != start; at = from, from = keys[at].index) {
      entries_[at] = std::move(entries_[from]);
      keys[at].index = at;
    }
    entries_[at] = std::move(first);
    keys[at].index = at;
  }
  if (repeated) UniteEqual();
  return true;
}

/// Merges equal entries, which are adjacent: a change of shape can report a path twice, and managedFields of clients
/// can contain a path twice.
void FieldSet::UniteEqual() {
  auto kept = entries_.begin();
  for (auto first = entries_.begin(); first != entries_.end();) {
    auto last =
        std::find_if(first + 1, entries_.end(), [&](const Entry& entry) { return !(entry.element == first->element); });
    if (last - first > 1) {
      std::vector<FieldSet> children;
      for (auto it = first; it != last; ++it) {
        first->member |= it->member;
        children.push_back(std::move(it->children));
      }
      first->children = UnionOf(std::move(children));
    }
    if (kept != first) *kept = std::move(*first);
    ++kept;
    first = last;
  }
  entries_.erase(kept, entries_.end());
}

const Entry* FieldSet::Find(const PathElement& element) const {
  const auto it = LowerBound(entries_.begin(), entries_.end(), element);
  return it != entries_.end() && it->element == element ? &*it : nullptr;
}

void FieldSet::Insert(const Path& path) {
  FieldSet* set = this;
  for (std::size_t i = 0; i < path.size(); ++i) {
    auto it = std::lower_bound(set->entries_.begin(), set->entries_.end(), path[i],
                               [](const Entry& entry, const PathElement& e) { return Compare(entry.element, e) < 0; });
    if (it == set->entries_.end() || !(it->element == path[i]))
      it = set->entries_.insert(it, Entry{path[i], false, {}});
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

void FieldSet::Add(FieldSet other) {
  if (other.Empty()) return;
  if (Empty()) {
    *this = std::move(other);
    return;
  }
  std::vector<Entry> out;
  out.reserve(entries_.size() + other.entries_.size());
  auto i = entries_.begin();
  auto j = other.entries_.begin();
  while (i != entries_.end() && j != other.entries_.end()) {
    const int order = Compare(i->element, j->element);
    if (order == 0) {
      i->member |= j->member;
      i->children.Add(std::move(j->children));
      ++j;
    }
    out.push_back(std::move(order <= 0 ? *i++ : *j++));
  }
  std::move(i, entries_.end(), std::back_inserter(out));
  std::move(j, other.entries_.end(), std::back_inserter(out));
  entries_ = std::move(out);
}

void FieldSet::SubtractFrom(const FieldSet& other, bool trees) {
  if (Empty() || other.Empty()) return;
  auto keep = entries_.begin();
  auto j = other.entries_.begin();
  const bool search = IsMuchSmaller(entries_, other.entries_);
  for (auto i = entries_.begin(); i != entries_.end(); ++i) {
    int order = 1;
    if (search) j = LowerBound(j, other.entries_.end(), i->element);
    while (j != other.entries_.end() && (order = Compare(i->element, j->element)) > 0) ++j;
    if (j != other.entries_.end() && order == 0) {
      if (j->member && trees) continue;
      if (j->member) i->member = false;
      i->children.SubtractFrom(j->children, trees);
      if (!i->member && i->children.Empty()) continue;
    }
    if (keep != i) *keep = std::move(*i);
    ++keep;
  }
  entries_.erase(keep, entries_.end());
}

FieldSet FieldSet::Union(const FieldSet& other) const {
  FieldSet out = *this;
  out.Add(other);
  return out;
}

FieldSet FieldSet::UnionOf(std::vector<FieldSet> sets) {
  if (sets.empty()) return {};
  for (std::size_t step = 1; step < sets.size(); step *= 2) {
    for (std::size_t i = 0; i + step < sets.size(); i += 2 * step) sets[i].Add(std::move(sets[i + step]));
  }
  return std::move(sets.front());
}

FieldSet FieldSet::Difference(const FieldSet& other) const {
  FieldSet out = *this;
  out.Subtract(other);
  return out;
}

FieldSet FieldSet::Intersection(const FieldSet& other) const {
  FieldSet out;
  if (Empty() || other.Empty()) return out;
  if (IsMuchSmaller(entries_, other.entries_) || IsMuchSmaller(other.entries_, entries_)) {
    const bool left_is_small = entries_.size() < other.entries_.size();
    const FieldSet& small = left_is_small ? *this : other;
    const FieldSet& large = left_is_small ? other : *this;
    for (const Entry& a : small.entries_) {
      const Entry* b = large.Find(a.element);
      if (b) out.Append(a.element, a.member && b->member, a.children.Intersection(b->children));
    }
    return out;
  }
  Zip(entries_, other.entries_, kIgnore, kIgnore, [&](const Entry& a, const Entry& b) {
    out.Append(a.element, a.member && b.member, a.children.Intersection(b.children));
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

void FieldSet::WriteTo(json::object& out, bool sorted_keys) const {
  static constexpr std::string_view kPrefixes[] = {"f:", "k:", "v:", "i:"};
  const auto prefix = [](const Entry& entry) { return kPrefixes[static_cast<std::size_t>(entry.element.kind)]; };
  std::string key;
  const auto write = [&](const Entry& entry) {
    key = prefix(entry);
    key += entry.element.text;
    json::object& below = out.emplace(key, json::object(out.storage())).first->value().get_object();
    if (entry.children.Empty()) return;
    below.reserve(entry.children.entries_.size() + 1);
    if (entry.member) below.emplace(".", json::object(out.storage()));
    entry.children.WriteTo(below, sorted_keys);
  };
  const auto unsorted = [&](const Entry& a, const Entry& b) {
    return prefix(a) != prefix(b) ? prefix(a) > prefix(b) : a.element.text > b.element.text;
  };
  if (!sorted_keys || std::adjacent_find(entries_.begin(), entries_.end(), unsorted) == entries_.end()) {
    for (const Entry& entry : entries_) write(entry);
    return;
  }
  std::vector<const Entry*> sorted;
  for (const Kind kind : {Kind::kField, Kind::kIndex, Kind::kKey, Kind::kValue}) {
    sorted.clear();
    for (const Entry& entry : entries_) {
      if (entry.element.kind == kind) sorted.push_back(&entry);
    }
    SortByText(sorted, [](const Entry* entry) { return entry->element.text; });
    for (const Entry* entry : sorted) write(*entry);
  }
}

json::object FieldSet::ToJson(const json::storage_ptr& storage, bool sorted_keys) const {
  json::object out(storage);
  out.reserve(entries_.size());
  WriteTo(out, sorted_keys);
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
    if ((entry.element.kind == Kind::kKey && !IsCanonicalKey(entry.element.text)) ||
        (entry.element.kind == Kind::kValue && !IsCanonicalValue(entry.element.text))) {
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
