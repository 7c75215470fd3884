#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "services/store/rpc/services.h"

namespace apimesh::store {

/// A method with one request and one response; `run` answers the call, now or later.
Method UnaryBytes(std::function<void(const CallPtr& call, std::string_view message)> run);
/// A method that always fails so.
Method Refuse(Status status);

void Answer(const CallPtr& call, std::string response);

/// The same for a parsed request.
template <class Request, class Run>
Method Unary(Run run) {
  return UnaryBytes([run](const CallPtr& call, std::string_view message) {
    Request request;
    if (!request.ParseFromArray(message.data(), static_cast<int>(message.size()))) {
      return call->Finish({Status::kInternal, "grpc: error unmarshalling request"});
    }
    run(call, request);
  });
}

/// Answers once everything the response may have seen is durable.
void AnswerWhenDurable(Store& store, const CallPtr& call, std::string response);

}  // namespace apimesh::store
