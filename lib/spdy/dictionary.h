#pragma once

#include <string>

namespace apimesh::spdy {

/// The 1423 bytes with which the compression of headers starts (SPDY/3, section 2.6.10.1).
const std::string& Dictionary();

}  // namespace apimesh::spdy
