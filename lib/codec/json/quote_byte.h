#pragma once

#include <string>

namespace apimesh::codec {

/// Quotes a byte as Go's encoding/json does in its error messages: 'a', '\'', '\u00e9'.
std::string QuoteByte(unsigned char byte);

}  // namespace apimesh::codec
