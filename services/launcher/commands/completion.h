#pragma once

#include <string>

namespace apimesh::launcher {

/// Returns a completion script for "bash", "zsh" or "fish".
std::string CompletionScript(const std::string& shell);

}  // namespace apimesh::launcher
