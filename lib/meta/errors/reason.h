#pragma once

#include <cstdint>
#include <string_view>

namespace apimesh::meta {

/// The reason of a Status: the values of metav1.StatusReason, named as on the wire.
enum class Reason : std::uint8_t {
  kNone,   // the Status has no reason
  kOther,  // a text that is not listed here, from a webhook or another API server
  kAlreadyExists,
  kBadRequest,
  kConflict,
  kExpired,
  kForbidden,
  kGone,
  kInternalError,
  kInvalid,
  kMethodNotAllowed,
  kNotAcceptable,
  kNotFound,
  kRequestEntityTooLarge,
  kServerTimeout,
  kServiceUnavailable,
  kStorageReadError,
  kTimeout,
  kTooManyRequests,
  kUnauthorized,
  kUnsupportedMediaType,
};

/// Returns "AlreadyExists" for kAlreadyExists; "" for kNone and kOther.
std::string_view ToString(Reason reason);
/// Returns kNone for an empty text, and kOther for an unknown one.
Reason ReasonFromString(std::string_view text);

}  // namespace apimesh::meta
