#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lib/meta/errors/api_error.h"

namespace apimesh::storage {

/// The position at which a paginated list continues. The encoding is that of kube-apiserver, so a client may continue a
/// list at another server.
struct ContinueToken {
  std::int64_t revision = 0;  // -1: the newest revision ("inconsistent" continuation)
  std::string start;          // the first key of the next page, relative to the prefix of the list

  std::string Encode() const;
  static meta::Result<ContinueToken> Decode(std::string_view text);
};

}  // namespace apimesh::storage
