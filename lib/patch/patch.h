#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lib/meta/errors/api_error.h"
#include "lib/meta/object.h"
#include "lib/schema/schema.h"

/// The patch types of the API, as functions on documents. Nothing here suspends or depends on a kind.
namespace apimesh::patch {

/// RFC 6902. A patch has at most 10,000 operations, and the bytes that "copy" adds are limited. Errors are 422 and 400
/// with kube-apiserver's texts.
meta::Result<> ApplyJsonPatch(meta::json::value& document, const meta::json::value& patch);

/// Why a JSON patch cannot be applied, in the words of the library that kube-apiserver uses.
struct JsonPatchFailure {
  std::string text;
  bool test_failed = false;  // a "test" operation found another value
};
/// Applies the operations of a patch that a webhook or a policy has computed. All elements of `operations` must be
/// objects. If this fails, the document may have been changed by operations before the failed one.
std::optional<JsonPatchFailure> ApplyJsonPatchOperations(meta::json::value& document,
                                                         const meta::json::array& operations);

/// RFC 7386.
void ApplyMergePatch(meta::json::value& document, const meta::json::value& patch);

/// Strategic merge patch with the patch strategies of the schema and all directives ($patch, $setElementOrder,
/// $retainKeys, $deleteFromPrimitiveList).
meta::Result<> ApplyStrategicMergePatch(meta::json::object& document, const meta::json::object& patch,
                                        const schema::Node& node);

}  // namespace apimesh::patch
