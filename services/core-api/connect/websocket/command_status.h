#pragma once

#include <string>
#include <string_view>

/// The Status with which exec and attach end, as JSON. It is the last message to the client.
namespace apimesh::core_api {

/// The status of a session that failed because of `message`.
std::string FailedCommand(std::string_view message);

/// The status of a command that has ended. `report` is what the kubelet sent in the error stream, and `protocol` the
/// version of the streams that the kubelet selected.
std::string EndedCommand(std::string_view protocol, std::string_view report);

}  // namespace apimesh::core_api
