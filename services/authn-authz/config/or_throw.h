#pragma once

#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "lib/meta/errors/api_error.h"

namespace apimesh::authn_authz {

/// Returns the value, or throws std::runtime_error with the text of the error, so that the process does not start with
/// an invalid configuration.
template <class T>
T OrThrow(meta::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().Message());
  return std::move(*result);
}

/// The same, with the name of the flag before the text.
template <class T>
T OrThrow(meta::Result<T> result, std::string_view flag) {
  if (!result) throw std::runtime_error(fmt::format("--{}: {}", flag, result.error().Message()));
  return std::move(*result);
}

}  // namespace apimesh::authn_authz
