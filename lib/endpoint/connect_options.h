#pragma once

#include "lib/endpoint/request.h"

namespace apimesh::endpoint {

/// Returns the options object of a request to a connecting subresource, such as PodExecOptions, which admission plugins
/// receive. It contains the URL parameters for which the options kind has fields. If the subresource takes a path
/// (proxy), the field `path` has what follows the subresource in the path of the request. Fields with empty values are
/// omitted. Returns the error of kube-apiserver (400) for a number that cannot be parsed.
meta::Result<meta::Object> ConnectOptions(const ResourceRequest& request);

}  // namespace apimesh::endpoint
