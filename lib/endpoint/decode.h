#pragma once

#include <functional>
#include <string_view>

#include "lib/codec/codec.h"
#include "lib/codec/negotiation.h"
#include "lib/endpoint/options.h"
#include "lib/endpoint/request.h"

/// Bodies to objects: parsed, checked against the schema, unknown and duplicate fields reported as the client asked, defaulted.
namespace apimesh::endpoint {

/// The body of a create or update. 400 with the reference's text if it is not what the resource takes.
/// Tells the client of something that strict decoding found; what YAML found is one warning a line.
void WarnOf(const ResourceRequest& request, std::string_view complaint);
meta::Result<meta::Object> DecodeBody(const ResourceRequest& request, FieldValidation validation);

/// A document that came out of a patch. `complaints` (of the patch itself) come before those about fields.
/// An error here is 422 about the field "patch", shown as `shown` says.
meta::Result<meta::Object> DecodePatched(const ResourceRequest& request, meta::json::object document,
                                         std::vector<std::string> complaints, FieldValidation validation, const std::function<std::string()>& shown, bool kind_counts);

/// Brings an object into its stored form: keys in order, defaults set. For objects that code changed. The last step before
/// the store: an error if nobody waits for the answer any more.
meta::Result<> Settle(const ResourceRequest& request, meta::Object& object);

/// The DeleteOptions of a body, "" being none.
meta::Result<meta::json::object> DecodeDeleteOptions(const ResourceRequest& request);

}  // namespace apimesh::endpoint
