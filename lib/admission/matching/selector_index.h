#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "lib/admission/matching/request_labels.h"
#include "lib/base/hash/seeded_hash.h"
#include "lib/meta/selectors/selector.h"

namespace apimesh::admission::matching {

/// Finds those of many items whose selectors the labels of a request do not exclude. An item whose selector requires a
/// label is found by this label, so that items whose label is absent cost nothing; of the other selectors, each
/// different pair is evaluated once per request. Immutable after the last Add(), then thread-safe.
class SelectorIndex {
 public:
  using Item = std::uint32_t;

  /// Adds an item, which must be greater than those before it.
  void Add(Item item, const meta::LabelSelector& namespaces, const meta::LabelSelector& objects);
  /// Adds an item that labels do not exclude.
  void AddUnconditional(Item item) { unconditional_.push_back(item); }

  /// Appends the items that are not excluded, in any order, some of them possibly twice. An item is not excluded if its
  /// namespace selector needs labels that are unknown.
  void Append(const Attributes& attributes, RequestLabels& labels, std::vector<Item>& found) const;
  /// Whether the labels of the namespace of a request could exclude an item.
  bool SelectsNamespaces() const { return selective_ && selective_->selects_namespaces; }

 private:
  template <class T>
  using ByText = std::unordered_map<std::string, T, SeededHash, std::equal_to<>>;

  /// Items by one label that their selector requires.
  class ByLabel {
   public:
    void Add(Item item, const meta::Requirement& required);
    void Append(const meta::Labels& labels, std::vector<Item>& found) const;
    void AppendAll(std::vector<Item>& found) const;

   private:
    struct Values {
      std::vector<Item> any;  // the label must exist
      ByText<std::vector<Item>> one;
    };
    ByText<Values> keys_;
  };
  struct Group {
    meta::LabelSelector namespaces, objects;
    std::vector<Item> items;
  };

  struct Selective {
    ByLabel by_object, by_namespace;
    std::vector<Group> groups;
    ByText<std::size_t> group_numbers;  // by the texts of both selectors
    bool selects_namespaces = false;
  };

  std::vector<Item> unconditional_;
  std::unique_ptr<Selective> selective_;  // nullptr: there are no selectors
};

}  // namespace apimesh::admission::matching
