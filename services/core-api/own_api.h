#pragma once

#include <functional>
#include <string>

#include "lib/base/async/task.h"
#include "lib/meta/errors/api_error.h"
#include "lib/meta/object.h"

namespace apimesh::core_api {

/// Reads an object by its path through the server's own API, as system:apiserver, without retries.
using ReadObject = std::function<Task<meta::Result<meta::Object>>(std::string path)>;
/// Sends any request the same way. The body is JSON.
using SendObject =
    std::function<Task<meta::Result<meta::Object>>(std::string method, std::string path, std::string body)>;

/// Gives a kind access to the API of its own server. A request passes through the same handlers as a request from a
/// client, without the network. Tests pass their own functions.
struct OwnApi {
  ReadObject read;
  SendObject send;
};

}  // namespace apimesh::core_api
