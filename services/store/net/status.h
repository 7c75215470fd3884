#pragma once

#include <string>

namespace apimesh::store {

/// The outcome of a call as gRPC sends it; codes are gRPC's.
struct Status {
  enum Code {
    kOk = 0,
    kCancelled = 1,
    kUnknown = 2,
    kInvalidArgument = 3,
    kDeadlineExceeded = 4,
    kNotFound = 5,
    kResourceExhausted = 8,
    kFailedPrecondition = 9,
    kOutOfRange = 11,
    kUnimplemented = 12,
    kInternal = 13,
    kUnavailable = 14,
  };
  int code = kOk;
  std::string message;

  bool ok() const { return code == kOk; }
};

}  // namespace apimesh::store
