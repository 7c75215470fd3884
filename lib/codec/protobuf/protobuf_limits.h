#pragma once

#include "lib/codec/codec.h"

namespace apimesh::codec {

/// Limits for the protobuf of clients. A message of 3 MB can have a million values, which are 2 bytes each.
struct ProtobufLimits {
  std::size_t values = 0;
  std::size_t keys = 0;  // values that are fields or entries of maps, not elements of lists
};

/// The same as ReadProtobuf() in codec.h, but returns 413 if the message has more values or keys.
meta::Result<meta::Object> ReadProtobuf(std::string_view bytes, const schema::Node& node, meta::json::storage_ptr arena,
                                        const ProtobufLimits& limits);

}  // namespace apimesh::codec
