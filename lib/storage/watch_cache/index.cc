#include "lib/storage/watch_cache/index.h"

#include <algorithm>
#include <unordered_map>

namespace apimesh::storage {

std::optional<std::string_view> IndexedBy::ValueOf(const CachedEntry& entry) const {
  if (entry.Error()) return std::nullopt;
  if (!label) return entry.FieldValue(name);
  const meta::Labels& labels = entry.GetLabels();
  const auto found = std::lower_bound(labels.begin(), labels.end(), name,
                                      [](const auto& one, const std::string& n) { return one.first < n; });
  if (found == labels.end() || found->first != name) return std::nullopt;
  return found->second;
}

std::vector<IndexTerm> TermsOf(const Filter& filter) {
  std::vector<IndexTerm> terms;
  for (const auto& term : filter.fields.Terms()) {
    // The name and the namespace are part of the key and need no index.
    if (term.equal && !term.field.starts_with("metadata.")) terms.push_back({{false, term.field}, term.value});
  }
  for (const meta::Requirement& requirement : filter.labels.Requirements()) {
    if (requirement.op == meta::Requirement::Op::kIn && requirement.values.size() == 1) {
      terms.push_back({{true, requirement.key}, requirement.values.front()});
    }
  }
  return terms;
}

Index Index::Of(IndexedBy by, const Tree& tree) {
  Index index(std::move(by));
  // The entries are collected first, because Tree::FromSorted() fills its nodes better than single insertions do.
  std::unordered_map<std::string_view, std::vector<CachedEntryPtr>> by_value;
  tree.Walk("", [&](const CachedEntryPtr& entry) {
    if (const auto value = index.by_->ValueOf(*entry)) by_value[*value].push_back(entry);
    return true;
  });
  for (auto& [value, entries] : by_value) {
    const std::string name(value);  // a copy, because `value` belongs to the first of the entries
    index.Own(name) = Tree::FromSorted(std::move(entries));
  }
  index.Freeze();
  return index;
}

const Tree* Index::Find(const std::string& value) const {
  const std::shared_ptr<Bucket>& bucket = buckets_[BucketFor(value)];
  if (!bucket) return nullptr;
  for (const auto& [known, tree] : bucket->values) {
    if (known == value) return &tree;
  }
  return nullptr;
}

Tree& Index::Own(std::string_view value) {
  const std::size_t bucket_index = BucketFor(value);
  std::shared_ptr<Bucket>& bucket = buckets_[bucket_index];
  const std::uint64_t bit = std::uint64_t{1} << bucket_index;
  if (!(own_ & bit)) bucket = bucket ? std::make_shared<Bucket>(*bucket) : std::make_shared<Bucket>();
  own_ |= bit;
  for (auto& [known, tree] : bucket->values) {
    if (known == value) return tree;
  }
  return bucket->values.emplace_back(std::string(value), Tree()).second;
}

void Index::Replace(const CachedEntryPtr& previous, const CachedEntryPtr& entry) {
  const auto before = previous ? by_->ValueOf(*previous) : std::nullopt;
  const auto after = entry ? by_->ValueOf(*entry) : std::nullopt;
  if (before && before != after) {
    Tree& tree = Own(*before);
    tree.Erase(previous->KeyText());
    if (tree.size() == 0) {
      auto& values = buckets_[BucketFor(*before)]->values;
      std::erase_if(values, [&](const auto& one) { return one.first == *before; });
    }
  }
  if (after) Own(*after).Put(entry);
}

void Index::Freeze() {
  for (std::size_t bucket_index = 0; bucket_index < kBuckets; ++bucket_index) {
    if (!(own_ & (std::uint64_t{1} << bucket_index))) continue;
    for (auto& [_, tree] : buckets_[bucket_index]->values) tree.Freeze();
  }
  own_ = 0;
}

}  // namespace apimesh::storage
