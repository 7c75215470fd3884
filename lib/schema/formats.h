#pragma once

#include <string_view>

namespace apimesh::schema {

/// Whether a text has an OpenAPI format. Formats that are not known accept everything.
bool HasFormat(std::string_view text, std::string_view format);

}  // namespace apimesh::schema
