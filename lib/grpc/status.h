#pragma once

#include <string>

namespace apimesh::grpc {

/// gRPC's status codes.
enum class Code : int {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

/// The result of a call.
struct Status {
  Code code = Code::kOk;
  std::string message;
  /// The server has certainly not processed the call, so any call, including a write, may be repeated.
  bool nothing_sent = false;

  bool ok() const { return code == Code::kOk; }
};

}  // namespace apimesh::grpc
