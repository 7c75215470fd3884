#pragma once

#include <string>

#include "lib/storage/entry.h"

namespace apimesh::storage {

/// Which objects a list or a watch is about.
struct Filter {
  std::string prefix;  // "ns/", or empty for all
  meta::LabelSelector labels;
  meta::FieldSelector fields;
  std::string one = {};  // the only key that can match; empty: there may be several

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
