#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lib/meta/gvk.h"

/// The little protobuf around objects that is made without parsing them: envelopes and lists.
namespace apimesh::endpoint {

/// `k8s\0` and a runtime.Unknown of this type: what stands before a message of that size, and after it.
std::string EnvelopeHead(const meta::Gvk& kind, std::size_t size);
std::string EnvelopeTail();
/// The message inside an envelope; "" if it is none.
std::string_view UnwrapEnvelope(std::string_view envelope);

/// The fields of a list message: ListMeta (1), then each item (2).
std::string ListMetaField(std::string_view resource_version, std::string_view continue_token,
                          std::optional<std::int64_t> remaining);
/// What stands before an item of that size.
std::string ItemFieldHead(std::size_t size);

}  // namespace apimesh::endpoint
