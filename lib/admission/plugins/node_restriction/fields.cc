#include "lib/admission/plugins/node_restriction/fields.h"

namespace apimesh::admission::node_restriction {

StringMap LabelsOf(const meta::Object& object) {
  StringMap labels;
  for (const auto& label : ObjectAt(object.Metadata(), "labels")) {
    if (label.value().is_string()) labels.emplace(label.key(), std::string_view(label.value().get_string()));
  }
  return labels;
}

}  // namespace apimesh::admission::node_restriction
