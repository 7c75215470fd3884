#pragma once

#include <cstddef>

#include "lib/meta/user.h"

namespace apimesh::meta {

/// About the memory that texts take up, besides sizeof of the object itself. For caches that are bounded by bytes.
std::size_t MemoryOf(const UserInfo& user);
std::size_t MemoryOf(const std::vector<std::string>& texts);

}  // namespace apimesh::meta
