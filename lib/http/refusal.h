#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include <boost/system/result.hpp>

#include "lib/base/async/task.h"

namespace apimesh::http {

class ResponseWriter;

/// The reason for which the server refuses a request itself, without its handler or on the handler's behalf.
struct Refusal {
  enum class Cause {
    kMalformed,         // the bytes are not an HTTP request
    kHeadTooLarge,      // the head is larger than Limits::header_bytes
    kTransferEncoding,  // the body has a transfer encoding other than "chunked"
    kBodyTooLarge,      // the body is larger than Limits::body_bytes
    kNoMemory,          // too many bodies are being read at the same time
    kBodyTimedOut,      // the body did not arrive in time
    kBodyBroken,        // the body is malformed, or ended early
    kNotAnswered,       // the handler failed before it sent a response
  };
  Cause cause = Cause::kMalformed;
  std::string detail = {};

  int Code() const;
  /// The value of the header Retry-After; 0: the client must not send the same request again.
  int RetryAfterSeconds() const { return cause == Cause::kNoMemory ? 1 : 0; }
};

/// A request body, or the reason why it is not available.
using BodyResult = boost::system::result<std::string, Refusal>;
[[noreturn]] void throw_exception_from_error(const Refusal& refusal, const boost::source_location& where);

/// The body of the response to a refused request, and its content type.
struct RefusalBody {
  std::string content_type, text;
};
using RefusalBodyFn = std::function<RefusalBody(const Refusal& refusal)>;
/// A plain text body: the code and its name.
RefusalBody PlainRefusalBody(const Refusal& refusal);

/// Answers a request with the refusal, over HTTP/1.1 and HTTP/2 alike.
Task<bool> SendRefusal(ResponseWriter& writer, const Refusal& refusal, const RefusalBodyFn& body);

}  // namespace apimesh::http
