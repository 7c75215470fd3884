#pragma once

#include <string>
#include <string_view>

#include "lib/meta/names.h"

namespace apimesh::meta {

/// Returns a random (version 4) UUID in lower case, for metadata.uid and audit ids.
std::string NewUuid(const RandomBits& random = SecureRandomBits);

}  // namespace apimesh::meta
