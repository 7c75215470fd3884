#pragma once

#include "lib/codec/codec.h"

namespace apimesh::codec {

/// Normalise() for custom resources: metadata takes the form of ObjectMeta, unknown fields are pruned (and reported to
/// `strict`), all keys are sorted. Types of other fields are left to validation.
meta::Result<> NormaliseCustomResource(meta::json::object& document, const schema::Node& node, Strictness* strict);

}  // namespace apimesh::codec
