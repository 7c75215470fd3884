#pragma once

#include <string_view>

#include "lib/meta/api_error.h"
#include "lib/meta/request_info.h"

namespace apimesh::meta {

/// The 403 of a user who may not do what `info` says, in the reference's words.
ApiError ForbiddenTo(std::string_view user, const RequestInfo& info, std::string_view reason);
/// The plain text of a 500, as the reference words it.
std::string InternalErrorText(std::string_view target, std::string_view error);

}  // namespace apimesh::meta
