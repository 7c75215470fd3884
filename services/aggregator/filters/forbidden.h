#pragma once

#include <string_view>

#include "lib/meta/api_error.h"
#include "lib/meta/request_info.h"

namespace apimesh::aggregator {

/// The 403 of a user who may not do what `info` says, in the reference's words.
meta::ApiError ForbiddenTo(std::string_view user, const meta::RequestInfo& info, std::string_view reason);

}  // namespace apimesh::aggregator
