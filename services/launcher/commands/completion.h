#pragma once

#include <string>

#include <CLI/App.hpp>

namespace apimesh::launcher {

/// Returns a completion script for "bash", "zsh" or "fish". It completes the commands of `app` and their options, and
/// the commands of the script ./apimesh.
std::string CompletionScript(const std::string& shell, const CLI::App& app);

}  // namespace apimesh::launcher
