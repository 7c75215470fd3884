#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "services/store/rpc/services.h"

namespace apimesh::store {

/// A method with one request and one response. `run` responds to the call immediately or later.
Method UnaryBytes(std::function<void(const CallPtr& call, std::string_view message)> run);
/// A method that always fails with `status`.
Method Refuse(Status status);

void Answer(const CallPtr& call, std::string response);

/// The same for a parsed request.
template <class Request, class Run>
Method Unary(Run run) {
  return UnaryBytes([run](const CallPtr& call, std::string_view message) {
    Request request;
    if (!request.ParseFromArray(message.data(), static_cast<int>(message.size()))) {
      return call->Finish({Code::kInternal, "grpc: error unmarshalling request"});
    }
    run(call, request);
  });
}

/// The same for a function that gets the services.
template <class Request>
Method Bind(Services& services, void (*run)(Services&, const CallPtr&, const Request&)) {
  return Unary<Request>(
      [&services, run](const CallPtr& call, const Request& request) { run(services, call, request); });
}

/// Responds as soon as everything that the response may be based on is durable.
void AnswerWhenDurable(Store& store, const CallPtr& call, std::string response);

}  // namespace apimesh::store
