#pragma once

#include <filesystem>

namespace apimesh {

/// Creates the folder and its missing parents with access only for their owner (0700), regardless of the umask.
/// Existing folders are not changed. Throws std::filesystem::filesystem_error.
void MakePrivateFolder(const std::filesystem::path& folder);

}  // namespace apimesh
