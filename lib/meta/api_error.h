#pragma once

#include <boost/json/object.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.h"
#include "lib/meta/field_error.h"
#include "lib/meta/gvk.h"

namespace apimesh::meta {

/// An error as a client sees it: a Kubernetes Status. One pointer wide and cheap to copy; made only by the factories
/// below, which have the reference's exact texts. Default-constructed it is an internal error.
class ApiError {
 public:
  struct Cause {
    std::string reason;
    std::string message;
    std::string field;
  };
  struct Data {
    int code = 500;
    std::string reason = "InternalError";  // metav1.StatusReason
    std::string message;
    std::string group, kind, name, uid;  // details; `kind` holds the resource where the reference puts it there
    std::vector<Cause> causes;
    int retry_after_seconds = 0;
    bool has_details = false;
    std::string continue_token;  // 410 of a list: how to go on inconsistently
  };

  ApiError() = default;
  explicit ApiError(Data data) : data_(std::make_shared<const Data>(std::move(data))) {}

  const Data& Get() const;
  int Code() const { return Get().code; }
  const std::string& Reason() const { return Get().reason; }
  const std::string& Message() const { return Get().message; }
  bool Is(std::string_view reason) const { return Get().reason == reason; }

  /// The body of the answer: {"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",…} in the
  /// reference's key order.
  boost::json::object ToStatus() const;

 private:
  std::shared_ptr<const Data> data_;
};

template <class T = void>
using Result = boost::system::result<T, ApiError>;

// One factory a reason. `resource` is the plural; `kind` the Kind.
ApiError NotFound(const GroupResource& resource, std::string_view name);
ApiError AlreadyExists(const GroupResource& resource, std::string_view name);
ApiError Conflict(const GroupResource& resource, std::string_view name, std::string_view why);
ApiError Gone(std::string_view message);
ApiError Expired(std::string_view message, std::string continue_token = "");
ApiError Invalid(const GroupKind& kind, std::string_view name, const FieldErrors& errors);
ApiError BadRequest(std::string_view message);
ApiError Unauthorized(std::string_view message = "Unauthorized");
ApiError Forbidden(const GroupResource& resource, std::string_view name, std::string_view why);
ApiError MethodNotSupported(const GroupResource& resource, std::string_view verb);
ApiError NotAcceptable(std::string_view message);
ApiError UnsupportedMediaType(std::string_view message);
ApiError RequestEntityTooLarge(std::string_view message);
ApiError TooManyRequests(std::string_view message, int retry_after_seconds);
ApiError InternalError(std::string_view message);
ApiError ServiceUnavailable(std::string_view message, int retry_after_seconds = 1);
/// 504 of a request that took too long.
ApiError Timeout(std::string_view message, int retry_after_seconds = 0);
/// 504 of an operation that may yet finish: `ServerTimeout` of the reference is 500; see the .cc.
ApiError ServerTimeout(const GroupResource& resource, std::string_view operation, int retry_after_seconds);
/// "Too large resource version: 9, current: 5": 504 with cause ResourceVersionTooLarge and retry after 1 s.
ApiError TooLargeResourceVersion(std::uint64_t asked, std::uint64_t current);
/// What the reference's client library makes of a path nobody serves: "the server could not find the requested resource".
ApiError GenericNotFound();
/// A Status that came from elsewhere (a webhook, another process), as it is.
ApiError FromStatus(const boost::json::object& status);

[[noreturn]] void throw_exception_from_error(const ApiError& error, const boost::source_location& where);

}  // namespace apimesh::meta
