#pragma once

#include <string>

#include "lib/base/clock.h"

namespace apimesh::launcher {

/// Gives an API group `replicas` processes of its own, or gives it back to the common server (0), and waits until the
/// mesh uses them. Returns the exit code.
int Scale(const std::string& folder, const std::string& group, int replicas, const Clock& clock);

/// Returns the program that serves a group, according to the list of APIServices as JSON: "core-api" or
/// "extensions-api". Otherwise `why` is set, and the result is empty.
std::string ProgramOf(const std::string& group, const std::string& api_services, std::string& why);

}  // namespace apimesh::launcher
