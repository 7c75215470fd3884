#pragma once

#include <string>

#include "lib/storage/entry/entry.h"

namespace apimesh::storage {

/// Selects the objects of a list or a watch.
struct Filter {
  std::string prefix;  // "ns/", or empty for all namespaces
  meta::LabelSelector labels;
  meta::FieldSelector fields;
  std::string one = {};  // the only key that can match; empty: several keys can match

  bool SelectorsEmpty() const { return labels.Empty() && fields.Empty(); }

  bool Matches(const CachedEntry& entry) const {
    if (!std::string_view(entry.KeyText()).starts_with(prefix) || entry.Error()) return false;
    if (!labels.Empty() && !labels.Matches(entry.GetLabels())) return false;
    if (fields.Empty()) return true;
    for (const auto& term : fields.Terms()) {
      if ((entry.FieldValue(term.field) == term.value) != term.equal) return false;
    }
    return true;
  }
};

}  // namespace apimesh::storage
