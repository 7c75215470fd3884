#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include "lib/base/result.h"
#include "lib/meta/errors/field_error.h"
#include "lib/meta/errors/reason.h"
#include "lib/meta/gvk.h"

namespace apimesh::meta {

/// An error as a client sees it: a Kubernetes Status. It is one pointer wide and cheap to copy. The factories below
/// produce kube-apiserver's exact texts; prefer them to filling `Data`. A default-constructed ApiError is an internal
/// error.
class ApiError {
 public:
  struct Cause {
    std::string reason;
    std::string message;
    std::string field;
  };
  struct Data {
    int code = 500;
    Reason reason = Reason::kInternalError;
    std::string other_reason;  // the text of Reason::kOther
    std::string message;
    std::string group, kind, name, uid;  // details; `kind` holds the resource where kube-apiserver does the same
    std::vector<Cause> causes;
    int retry_after_seconds = 0;
    bool has_details = false;
    std::string continue_token;  // for the 410 of a list: the token with which the client may continue, inconsistently
  };

  ApiError() = default;
  explicit ApiError(Data data) : data_(std::make_shared<const Data>(std::move(data))) {}

  const Data& Get() const;
  int Code() const { return Get().code; }
  /// The reason as the client sees it; "" if there is none.
  std::string_view ReasonText() const;
  const std::string& Message() const { return Get().message; }
  bool Is(Reason reason) const { return Get().reason == reason; }

  /// Returns the body of the response: {"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",…} in
  /// kube-apiserver's key order.
  boost::json::object ToStatus() const;

 private:
  std::shared_ptr<const Data> data_;
};

template <class T = void>
using Result = boost::system::result<T, ApiError>;

// One factory per reason. `resource` is the plural name, `kind` the Kind.
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
/// 504 for a request that took too long.
ApiError Timeout(std::string_view message, int retry_after_seconds = 0);
/// 500 with reason ServerTimeout, as in kube-apiserver, for an operation that the client should try again.
ApiError ServerTimeout(const GroupResource& resource, std::string_view operation, int retry_after_seconds);
/// 504 "Timeout: Too large resource version: 9, current: 5", with cause ResourceVersionTooLarge and retry after 1 s.
ApiError TooLargeResourceVersion(std::uint64_t asked, std::uint64_t current);
/// Returns the error that client-go makes of a path that is not served: "the server could not find the requested
/// resource".
ApiError GenericNotFound();
/// Converts a Status that a webhook or another process returned, without changing it.
ApiError FromStatus(const boost::json::object& status);

[[noreturn]] void throw_exception_from_error(const ApiError& error, const boost::source_location& where);

}  // namespace apimesh::meta
