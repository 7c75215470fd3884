#pragma once

#include <string>

namespace CLI {
class App;
class Error;
}  // namespace CLI

namespace apimesh::launcher {

/// Returns the text about a command line that cannot be used: what is wrong, the options that may be meant instead of
/// an unknown one, and the command that shows the help of the command that was given.
std::string UsageError(const CLI::App* app, const CLI::Error& error);

}  // namespace apimesh::launcher
