#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lib/meta/api_error.h"

namespace apimesh::storage {

/// Where a list goes on: the reference's own token, so that clients may move between servers.
struct ContinueToken {
  std::int64_t revision = 0;  // -1: the newest one ("inconsistent")
  std::string start;          // first key of the next page, below the prefix of the list

  std::string Encode() const;
  static meta::Result<ContinueToken> Decode(std::string_view text);
};

}  // namespace apimesh::storage
