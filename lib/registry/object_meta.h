#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/meta/api_error.h"
#include "lib/meta/object.h"

/// Reading and changing metadata; its rules are in lib/meta/object_meta.h.
namespace apimesh::registry {

/// metadata.namespace against the one of the request: filled in where empty, cleared where the kind has none, 400 where
/// they differ.
meta::Result<> MatchNamespace(meta::Object& object, std::string_view request_namespace);

/// Removes owner references that are there twice; gives the uids of those removed.
std::vector<std::string> RemoveDuplicateOwners(meta::Object& object);

std::vector<std::string> Finalizers(const meta::Object& object);
void SetFinalizers(meta::Object& object, const std::vector<std::string>& finalizers);

}  // namespace apimesh::registry
