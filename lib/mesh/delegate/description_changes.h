#pragma once

#include <optional>

#include "lib/mesh/delegate/delegate.h"
#include "proto/mesh/v1/delegate.pb.h"

/// The messages of a Describe stream. The first has the complete description, the others only what has changed, so that
/// one more definition costs the same whatever their number. Pure functions.
namespace apimesh::mesh {

/// Returns the message that takes a client from the description `sent` to `next`. nullptr: the client has none yet.
mesh::v1::Description ToProto(const Description& next, const Description* sent);

/// Returns the description after a message. The group-versions that the message does not mention are shared with
/// `known`. Returns nullopt for changes of an unknown description.
std::optional<Description> FromProto(mesh::v1::Description&& message, const std::optional<Description>& known);

}  // namespace apimesh::mesh
