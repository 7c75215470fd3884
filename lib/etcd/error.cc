#include "lib/etcd/error.h"

#include <stdexcept>

namespace apimesh::etcd {
namespace {

bool Contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

struct Known {
  std::string_view part;
  Error::Code code;
};
// etcd's error messages. Several errors share one gRPC code, so the code alone does not identify them.
constexpr Known kTexts[] = {
    {"required revision has been compacted", Error::Code::kCompacted},
    {"required revision is a future revision", Error::Code::kFutureRevision},
    {"request is too large", Error::Code::kTooLarge},
    {"received message larger than max", Error::Code::kTooLarge},
    {"database space exceeded", Error::Code::kNoSpace},
    {"requested lease not found", Error::Code::kLeaseNotFound},
    {"permission denied", Error::Code::kPermissionDenied},
    {"authentication failed", Error::Code::kPermissionDenied},
    {"user name is empty", Error::Code::kPermissionDenied},
    {"invalid auth token", Error::Code::kPermissionDenied},
    {"etcdserver: no leader", Error::Code::kUnavailable},
    {"etcdserver: too many requests", Error::Code::kUnavailable},
};

}  // namespace

bool NotSent(const grpc::Status& status) {
  return status.nothing_sent || Contains(status.message, "etcdserver: no leader");
}

bool TokenExpired(const grpc::Status& status) {
  return Contains(status.message, "invalid auth token") || Contains(status.message, "user name is empty") ||
         Contains(status.message, "revision of auth store is old");
}

Error ErrorFrom(const grpc::Status& status, CallKind kind) {
  const auto make = [&](Error::Code code) { return Error{code, status.message, 0}; };
  for (const Known& known : kTexts) {
    if (Contains(status.message, known.part)) return make(known.code);
  }
  if (NotSent(status)) return make(Error::Code::kUnavailable);
  using enum grpc::Code;
  switch (status.code) {
    case kInvalidArgument:
    case kFailedPrecondition:
    case kOutOfRange:
    case kNotFound:
    case kUnimplemented: return make(Error::Code::kInvalid);
    case kPermissionDenied:
    case kUnauthenticated: return make(Error::Code::kPermissionDenied);
    default: break;
  }
  if (kind == CallKind::kWrite) return make(Error::Code::kAmbiguous);
  switch (status.code) {
    case kUnavailable: return make(Error::Code::kUnavailable);
    case kDeadlineExceeded: return make(Error::Code::kDeadlineExceeded);
    case kCancelled: return make(Error::Code::kCancelled);
    default: return make(Error::Code::kUnknown);
  }
}

void throw_exception_from_error(const Error& error, const boost::source_location&) {
  throw std::logic_error("value() on an etcd error: " + error.message);
}

std::string PrefixEnd(std::string prefix) {
  while (!prefix.empty()) {
    if (static_cast<unsigned char>(prefix.back()) != 0xff) {
      prefix.back() = static_cast<char>(prefix.back() + 1);
      return prefix;
    }
    prefix.pop_back();
  }
  return std::string(1, '\0');  // etcd's notation for "until the last key"
}

}  // namespace apimesh::etcd
