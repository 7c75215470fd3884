#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/meta/errors/api_error.h"
#include "lib/meta/object.h"

/// Functions that read and change metadata. The validation rules are in lib/meta/object_meta.h.
namespace apimesh::registry {

/// Compares metadata.namespace with the namespace of the request: sets it if it is empty, removes it if the request has
/// none, and returns 400 if they differ.
meta::Result<> MatchNamespace(meta::Object& object, std::string_view request_namespace);

/// Removes duplicate owner references and returns the uids of the removed ones.
std::vector<std::string> RemoveDuplicateOwners(meta::Object& object);

std::vector<std::string> Finalizers(const meta::Object& object);
void SetFinalizers(meta::Object& object, const std::vector<std::string>& finalizers);

}  // namespace apimesh::registry
