#include "lib/meta/errors/reason.h"

#include <iterator>

namespace apimesh::meta {
namespace {

constexpr std::string_view kNames[] = {"",
                                       "",
                                       "AlreadyExists",
                                       "BadRequest",
                                       "Conflict",
                                       "Expired",
                                       "Forbidden",
                                       "Gone",
                                       "InternalError",
                                       "Invalid",
                                       "MethodNotAllowed",
                                       "NotAcceptable",
                                       "NotFound",
                                       "RequestEntityTooLarge",
                                       "ServerTimeout",
                                       "ServiceUnavailable",
                                       "StorageReadError",
                                       "Timeout",
                                       "TooManyRequests",
                                       "Unauthorized",
                                       "UnsupportedMediaType"};
static_assert(std::size(kNames) == static_cast<std::size_t>(Reason::kUnsupportedMediaType) + 1);

}  // namespace

std::string_view ToString(Reason reason) { return kNames[static_cast<std::size_t>(reason)]; }

Reason ReasonFromString(std::string_view text) {
  if (text.empty()) return Reason::kNone;
  for (std::size_t i = 0; i < std::size(kNames); ++i) {
    if (kNames[i] == text) return static_cast<Reason>(i);
  }
  return Reason::kOther;
}

}  // namespace apimesh::meta
