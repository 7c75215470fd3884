#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "services/core-api/validation/check.h"

namespace apimesh::core_api {

/// Adds "unsupported" if the text of a field is not one of `values`, also if it is empty or missing. For enums that are
/// pointers in kube-apiserver, call it if the field is present.
inline void ValidateEnum(const Check& holder, std::string_view field, const std::vector<std::string>& values) {
  const std::string_view text = holder.Text(field);
  if (std::find(values.begin(), values.end(), text) == values.end())
    holder.Add(meta::NotSupported(holder.Path().Child(field).ToString(), meta::Quoted(text), values));
}

}  // namespace apimesh::core_api
