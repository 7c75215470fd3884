#pragma once

#include <filesystem>
#include <optional>

#include "lib/base/wipe.h"

namespace apimesh {

/// The same as ReadFile() for files with keys or tokens: this function and the result leave no copy of the contents in
/// memory.
std::optional<SecretBytes> ReadSecretFile(const std::filesystem::path& path);

}  // namespace apimesh
