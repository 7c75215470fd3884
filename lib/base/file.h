#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace apimesh {

/// The contents of a file; nullopt if it cannot be read, with the reason in errno.
std::optional<std::string> ReadFile(const std::filesystem::path& path);

}  // namespace apimesh
