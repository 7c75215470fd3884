#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace apimesh::grpc {

/// A process that may connect to a listener, and the methods that it may call there.
struct Caller {
  /// A URI that its certificate has as a subject alternative name.
  std::string identity;
  /// "/package.Service/Method", or "/package.Service/" for all methods of the service.
  std::vector<std::string> methods;

  bool MayCall(std::string_view method) const {
    const std::string_view service = method.substr(0, method.rfind('/') + 1);
    return std::any_of(methods.begin(), methods.end(),
                       [&](const std::string& allowed) { return allowed == method || allowed == service; });
  }
};

}  // namespace apimesh::grpc
