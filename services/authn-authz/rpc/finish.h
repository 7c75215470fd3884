#pragma once

// Internal to rpc/: includes gRPC.

#include <grpcpp/grpcpp.h>

#include <exception>

#include "lib/base/log.h"

namespace apimesh::authn_authz {

/// The end of a call whose answer a coroutine works out: success, or INTERNAL if it threw.
inline auto FinishWhenDone(grpc::ServerUnaryReactor* reactor) {
  return [reactor](std::exception_ptr error) {
    if (!error) return reactor->Finish(grpc::Status::OK);
    try {
      std::rethrow_exception(error);
    } catch (const std::exception& e) {
      log::Error("a call failed: {}", e.what());
      reactor->Finish(grpc::Status(grpc::StatusCode::INTERNAL, "authn-authz failed"));
    }
  };
}

}  // namespace apimesh::authn_authz
