#pragma once

#include "lib/meta/errors/api_error.h"
#include "lib/meta/object.h"
#include "lib/schema/schema.h"

namespace apimesh::codec {

/// Normalises a document as Normalise() does, to the form that it has after it was encoded as protobuf and decoded
/// again, as kube-apiserver stores most kinds: protobuf does not distinguish an empty list or map from a missing one,
/// so an always-written one becomes null.
meta::Result<> NormaliseForStore(meta::json::object& document, const schema::Node& node);

}  // namespace apimesh::codec
