#pragma once

#include <string_view>

#include "lib/meta/api_error.h"
#include "lib/meta/request_info.h"

namespace apimesh::meta {

/// The 403 of a user who may not do what `info` says, in the reference's words.
ApiError ForbiddenTo(std::string_view user, const RequestInfo& info, std::string_view reason);

}  // namespace apimesh::meta
