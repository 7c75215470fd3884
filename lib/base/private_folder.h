#pragma once

#include <filesystem>

namespace apimesh {

/// Creates the folder and its missing parents, all of them accessible to their owner only (0700), whatever the
/// umask is. Folders that
/// exist already are left as they are. Throws std::filesystem::filesystem_error.
void MakePrivateFolder(const std::filesystem::path& folder);

}  // namespace apimesh
