#pragma once

#include <functional>

#include "lib/codec/codec.h"
#include "lib/codec/negotiation.h"

namespace apimesh::endpoint {

/// An empty list of managedFields, which the normal form leaves out, asks for the same as [{}]: to forget them.
void KeepManagedFieldsReset(meta::json::object& document);

/// What a body is to be decoded into.
struct DecodeTarget {
  meta::Gvk kind;              // the kind the endpoint expects; fills in what the body leaves out
  const schema::Node* node = nullptr;
  /// Whether another kind is one the server has, which changes the text about a body of the wrong kind; empty: no.
  std::function<bool(const meta::Gvk& kind)> knows;
};

/// A request body to an object in normal form (Normalise), its kind and version checked. Errors are whole answers, in the
/// reference's words: "the object provided is unrecognized (must be of type Pod): …", `Pod in version "v1" cannot be handled
/// as a Pod: …`. `strict` collects complaints; what to do with them (Strict, Warn, Ignore) is the caller's choice.
meta::Result<meta::Object> Decode(std::string_view body, codec::Format format, const DecodeTarget& target, meta::json::storage_ptr arena,
                                  codec::Strictness* strict, const codec::ParseLimits& limits = {});

/// Why a document, by what it says of itself, is not of the target's kind; empty: it is, or doesn't say.
std::string WrongKindText(const meta::json::object& document, const DecodeTarget& target);

/// The 400 of fieldValidation=Strict.
meta::ApiError StrictDecodingError(const meta::Gvk& kind, const codec::Strictness& strict);

}  // namespace apimesh::endpoint
