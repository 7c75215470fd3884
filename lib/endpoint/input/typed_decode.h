#pragma once

#include <functional>

#include "lib/codec/codec.h"
#include "lib/codec/negotiation.h"

namespace apimesh::endpoint {

/// Replaces an empty list of managedFields with [{}]. Both ask the server to reset managedFields, but Normalise() drops
/// empty lists.
void KeepManagedFieldsReset(meta::json::object& document);

/// Describes the object that a body is decoded into.
struct DecodeTarget {
  meta::Gvk kind;  // the kind that the endpoint expects; used for fields that the body omits
  const schema::Node* node = nullptr;
  /// Returns whether the server has the given kind. This changes the message about a body of the wrong kind. If empty,
  /// no other kind is known.
  std::function<bool(const meta::Gvk& kind)> knows;
};

/// Decodes a request body into a normalised object and checks its kind and apiVersion. Errors are complete responses
/// with the messages of kube-apiserver: "the object provided is unrecognized (must be of type Pod): …", `Pod in version
/// "v1" cannot be handled as a Pod: …`. Findings of strict decoding are added to `strict`; the caller handles them
/// according to fieldValidation (Strict, Warn, Ignore). A custom resource may have another kind or apiVersion: after
/// the findings, the caller calls CheckVersion(), and validation checks the kind.
meta::Result<meta::Object> Decode(std::string_view body, codec::Format format, const DecodeTarget& target,
                                  meta::json::storage_ptr arena, codec::Strictness* strict,
                                  const codec::ParseLimits& limits = {});

/// Returns the error about a body that cannot be converted to the expected kind.
meta::ApiError CannotBeHandled(const meta::Gvk& actual, const meta::Gvk& expected, std::string_view why);

/// Normalises a custom resource, which may have another kind or version than the expected one.
meta::Result<> NormaliseCustom(meta::json::object& root, const DecodeTarget& target, codec::Strictness* strict);

/// Returns an error if the object does not have the expected apiVersion.
meta::Result<> CheckVersion(const meta::Object& object, const meta::Gvk& expected);

/// Returns the error message if the kind or apiVersion of the document is not the one of the target. Returns "" if they
/// match or are missing.
std::string WrongKindText(const meta::json::object& document, const DecodeTarget& target);

/// Returns the 400 error of fieldValidation=Strict.
meta::ApiError StrictDecodingError(const meta::Gvk& kind, const codec::Strictness& strict);

}  // namespace apimesh::endpoint
