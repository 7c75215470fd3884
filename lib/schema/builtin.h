#pragma once

#include <string_view>

#include "lib/schema/schema.h"

namespace apimesh::schema {

/// The schema of all built-in kinds, compiled on first use from the descriptors that are part of this library.
const Schema& Builtin();

/// Compiles a FileDescriptorSet of files in the form of proto/k8s. Throws std::runtime_error on bytes that are none:
/// they are part of the program.
Schema CompileDescriptors(std::string_view descriptor_set);

/// The embedded FileDescriptorSet.
std::string_view BuiltinDescriptors();

}  // namespace apimesh::schema
