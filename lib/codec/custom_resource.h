#pragma once

#include "lib/codec/codec.h"

namespace apimesh::codec {

/// Implements Normalise() for custom resources: metadata is normalised as ObjectMeta, unknown fields are pruned (and
/// reported to `strict`), and all keys are sorted. The types of other fields are checked later, by validation.
meta::Result<> NormaliseCustomResource(meta::json::object& document, const schema::Node& node, Strictness* strict);

}  // namespace apimesh::codec
