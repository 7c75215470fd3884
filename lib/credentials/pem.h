#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/meta/errors/api_error.h"

namespace apimesh::credentials {

/// A block of a PEM text.
struct PemBlock {
  std::string type;      // "CERTIFICATE", …
  bool headers = false;  // such a block is not decoded
  std::string bytes;
};

/// Returns all blocks of the text. A malformed block is an error, because one PEM reader may skip it and another may
/// read it.
meta::Result<std::vector<PemBlock>> PemBlocks(std::string_view text);

}  // namespace apimesh::credentials
