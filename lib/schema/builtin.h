#pragma once

#include <string_view>

#include "lib/schema/schema.h"

namespace apimesh::schema {

/// Returns the schema of all built-in kinds, which is compiled on first use from the descriptors embedded in this
/// library.
const Schema& Builtin();

/// Compiles a FileDescriptorSet of files with the annotations of proto/k8s. Throws std::runtime_error if the bytes
/// cannot be parsed, which is a defect of the build.
Schema CompileDescriptors(std::string_view descriptor_set);

/// The embedded FileDescriptorSet.
std::string_view BuiltinDescriptors();

}  // namespace apimesh::schema
