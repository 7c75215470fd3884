#pragma once

#include <string>

namespace apimesh::launcher {

/// A completion script for "bash" or "zsh".
std::string CompletionScript(const std::string& shell);

}  // namespace apimesh::launcher
