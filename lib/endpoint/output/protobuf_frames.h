#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lib/meta/gvk.h"

/// Protobuf envelopes and list messages, which are written around encoded objects without parsing them.
namespace apimesh::endpoint {

/// Return the bytes before and after a message of `size` bytes in the envelope: `k8s\0` and a runtime.Unknown of this
/// kind.
std::string EnvelopeHead(const meta::Gvk& kind, std::size_t size);
std::string EnvelopeTail();
/// Returns the message inside an envelope, or "" if the input is not an envelope.
std::string_view UnwrapEnvelope(std::string_view envelope);

/// Encodes the ListMeta field (1) of a list message. The items follow as field 2.
std::string ListMetaField(std::string_view resource_version, std::string_view continue_token,
                          std::optional<std::int64_t> remaining);
/// Returns the bytes before an item of `size` bytes.
std::string ItemFieldHead(std::size_t size);

}  // namespace apimesh::endpoint
