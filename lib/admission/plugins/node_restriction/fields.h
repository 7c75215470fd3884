#pragma once

#include <map>

#include "lib/admission/fields.h"

namespace apimesh::admission::node_restriction {

using StringMap = std::map<std::string, std::string, std::less<>>;
/// Returns metadata.labels.
StringMap LabelsOf(const meta::Object& object);

}  // namespace apimesh::admission::node_restriction
