#pragma once

#include <span>
#include <utility>

#include "lib/cel/message/messages.h"
#include "lib/cel/value/value.h"

namespace apimesh::cel {

/// The value of a message with these fields, or an error. Each field exists in the message.
Value Construct(const Message& message, std::span<const std::pair<const MessageField*, Value>> fields, Arena& arena);

/// The value of an encoded message that google.protobuf.Any holds. Returns nothing if the type is unknown or the bytes
/// are not valid.
std::optional<Value> Unpack(std::string_view type_url, std::string_view bytes, Arena& arena);

}  // namespace apimesh::cel
