#pragma once

#include <string>
#include <string_view>

#include "lib/meta/names.h"

namespace apimesh::meta {

/// A random (version 4) UUID in lower case: metadata.uid, audit ids.
std::string NewUuid(const RandomBits& random = SecureRandomBits);

}  // namespace apimesh::meta
