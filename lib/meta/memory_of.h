#pragma once

#include <cstddef>

#include "lib/meta/request/user.h"

namespace apimesh::meta {

/// Estimates the memory that the texts of an object take, in addition to the object's sizeof. For caches that are
/// bounded by bytes.
std::size_t MemoryOf(const UserInfo& user);
std::size_t MemoryOf(const std::vector<std::string>& texts);

}  // namespace apimesh::meta
