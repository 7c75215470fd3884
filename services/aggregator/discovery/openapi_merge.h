#pragma once

#include <functional>
#include <string_view>

#include "lib/meta/object.h"

namespace apimesh::aggregator {

/// Removes the paths of an OpenAPI v2 document that `keep` refuses, and then the definitions and parameters to which
/// nothing refers any more.
void KeepPaths(meta::json::object& document, const std::function<bool(std::string_view path)>& keep);

/// Adds the paths, definitions and parameters of `more` to `all`, as kube-apiserver does. Of two paths with one name,
/// that of `all` stays. A definition or parameter that differs from the one of the same name in `all` gets a new name,
/// "<name>_v2" or the next number that is free; a definition that `all` has under such a name already is used again.
/// Definitions that differ only in x-kubernetes-group-version-kind are one definition with the kinds of both.
void MergeOpenApiV2(meta::json::object& all, meta::json::object more);

}  // namespace apimesh::aggregator
