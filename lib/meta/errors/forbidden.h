#pragma once

#include <string_view>

#include "lib/meta/errors/api_error.h"
#include "lib/meta/request/request_info.h"

namespace apimesh::meta {

/// Returns the 403 for a user who is not allowed to do what `info` describes, with kube-apiserver's text.
ApiError ForbiddenTo(std::string_view user, const RequestInfo& info, std::string_view reason);
/// Returns the plain-text body of a 500, with kube-apiserver's text.
std::string InternalErrorText(std::string_view target, std::string_view error);

}  // namespace apimesh::meta
