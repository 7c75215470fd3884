#pragma once

#include <functional>
#include <string_view>

#include "lib/codec/codec.h"
#include "lib/codec/negotiation.h"
#include "lib/endpoint/input/options.h"
#include "lib/endpoint/request.h"

/// Decodes request bodies into objects: parses a body, checks it against the schema, reports unknown and duplicate
/// fields as fieldValidation requests, and sets defaults.
namespace apimesh::endpoint {

/// Sends the client a warning about a finding of strict decoding. Each line of a YAML decoder message becomes one
/// warning.
void WarnOf(const ResourceRequest& request, std::string_view complaint);
/// Decodes the body of a create or update. Returns 400 with kube-apiserver's message if the body does not fit the
/// resource.
meta::Result<meta::Object> DecodeBody(const ResourceRequest& request, FieldValidation validation);

/// Checks and defaults the document that results from a patch. `complaints` are findings about the patch itself and are
/// reported before those about fields. An invalid document is a 422 about the field "patch", whose value in the message
/// is `shown()`. If `kind_counts` is false, the kind and apiVersion of the document are not checked.
meta::Result<meta::Object> DecodePatched(const ResourceRequest& request, meta::json::object document,
                                         std::vector<std::string> complaints, FieldValidation validation,
                                         const std::function<std::string()>& shown, bool kind_counts);

/// Normalises an object that code has changed: puts its fields in the order of the schema and adds the fields that are
/// always written. This must be the last step before the object is stored.
meta::Result<> NormaliseForStore(const ResourceRequest& request, meta::Object& object);

/// Decodes the DeleteOptions in the body. The body must not be empty.
meta::Result<meta::json::object> DecodeDeleteOptions(const ResourceRequest& request);

}  // namespace apimesh::endpoint
