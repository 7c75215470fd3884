#pragma once

#include <string>

#include "lib/meta/errors/api_error.h"

namespace apimesh::meta {

/// Returns a 500 with a message and no reason: what kube-apiserver makes of a Go error that is not a Status.
ApiError PlainError(std::string message);
/// Returns an error of kube-apiserver's router. Its details are present but empty, because no object is known yet.
ApiError RouterError(int code, Reason reason, std::string message);

}  // namespace apimesh::meta
