#include "lib/meta/errors/api_error.h"

#include <set>
#include <stdexcept>

#include <fmt/format.h>

namespace apimesh::meta {
namespace {

using Data = ApiError::Data;
namespace json = boost::json;

Data Of(int code, Reason reason, std::string message) {
  Data data;
  data.code = code;
  data.reason = reason;
  data.message = std::move(message);
  return data;
}

Data OfResource(int code, Reason reason, const GroupResource& resource, std::string_view name, std::string message) {
  Data data = Of(code, reason, std::move(message));
  data.group = resource.group;
  data.kind = resource.resource;
  data.name = name;
  data.has_details = true;
  return data;
}

}  // namespace

const Data& ApiError::Get() const {
  static const Data internal = Of(500, Reason::kInternalError, "Internal error occurred");
  return data_ ? *data_ : internal;
}

std::string_view ApiError::ReasonText() const {
  const Data& data = Get();
  return data.reason == Reason::kOther ? std::string_view(data.other_reason) : ToString(data.reason);
}

json::object ApiError::ToStatus() const {
  const Data& data = Get();
  json::object status;
  status["kind"] = "Status";
  status["apiVersion"] = "v1";
  json::object& metadata = status["metadata"].emplace_object();
  if (!data.continue_token.empty()) metadata["continue"] = data.continue_token;
  status["status"] = "Failure";
  if (!data.message.empty()) status["message"] = data.message;
  if (const std::string_view reason = ReasonText(); !reason.empty()) status["reason"] = reason;
  if (data.has_details) {
    json::object& details = status["details"].emplace_object();
    if (!data.name.empty()) details["name"] = data.name;
    if (!data.group.empty()) details["group"] = data.group;
    if (!data.kind.empty()) details["kind"] = data.kind;
    if (!data.uid.empty()) details["uid"] = data.uid;
    if (!data.causes.empty()) {
      json::array& causes = details["causes"].emplace_array();
      for (const Cause& cause : data.causes) {
        json::object& one = causes.emplace_back(json::object()).get_object();
        if (!cause.reason.empty()) one["reason"] = cause.reason;
        if (!cause.message.empty()) one["message"] = cause.message;
        if (!cause.field.empty()) one["field"] = cause.field;
      }
    }
    if (data.retry_after_seconds > 0) details["retryAfterSeconds"] = data.retry_after_seconds;
  }
  if (data.code != 0) status["code"] = data.code;
  return status;
}

ApiError NotFound(const GroupResource& resource, std::string_view name) {
  return ApiError(OfResource(404, Reason::kNotFound, resource, name,
                             fmt::format("{} {} not found", resource.ToString(), Quoted(name))));
}

ApiError AlreadyExists(const GroupResource& resource, std::string_view name) {
  return ApiError(OfResource(409, Reason::kAlreadyExists, resource, name,
                             fmt::format("{} {} already exists", resource.ToString(), Quoted(name))));
}

ApiError Conflict(const GroupResource& resource, std::string_view name, std::string_view why) {
  return ApiError(
      OfResource(409, Reason::kConflict, resource, name,
                 fmt::format("Operation cannot be fulfilled on {} {}: {}", resource.ToString(), Quoted(name), why)));
}

ApiError Gone(std::string_view message) { return ApiError(Of(410, Reason::kGone, std::string(message))); }

ApiError Expired(std::string_view message, std::string continue_token) {
  Data data = Of(410, Reason::kExpired, std::string(message));
  data.continue_token = std::move(continue_token);
  return ApiError(std::move(data));
}

ApiError Invalid(const GroupKind& kind, std::string_view name, const FieldErrors& errors) {
  Data data = Of(422, Reason::kInvalid, "");
  data.group = kind.group;
  data.kind = kind.kind;
  data.name = name;
  data.has_details = true;
  std::vector<std::string_view> texts;  // in order, without repetitions
  std::set<std::string> distinct;
  for (const FieldError& error : errors) {
    data.causes.push_back({std::string(error.Reason()), error.Message(), error.field});
    const auto [text, is_new] = distinct.insert(fmt::format("{}: {}", error.field, data.causes.back().message));
    if (is_new) texts.push_back(*text);
  }
  if (errors.Full() && errors.size() > 1) texts.push_back("too many errors");
  if (texts.size() == 1) {
    data.message = fmt::format("{} {} is invalid: {}", kind.ToString(), Quoted(name), texts.front());
  } else if (texts.empty()) {
    data.message = fmt::format("{} {} is invalid", kind.ToString(), Quoted(name));
  } else {
    data.message = fmt::format("{} {} is invalid: [{}]", kind.ToString(), Quoted(name), fmt::join(texts, ", "));
  }
  return ApiError(std::move(data));
}

ApiError BadRequest(std::string_view message) { return ApiError(Of(400, Reason::kBadRequest, std::string(message))); }

ApiError Unauthorized(std::string_view message) {
  return ApiError(Of(401, Reason::kUnauthorized, std::string(message)));
}

ApiError Forbidden(const GroupResource& resource, std::string_view name, std::string_view why) {
  std::string message;
  if (resource.group.empty() && resource.resource.empty()) {
    message = fmt::format("forbidden: {}", why);
  } else if (name.empty()) {
    message = fmt::format("{} is forbidden: {}", resource.ToString(), why);
  } else {
    message = fmt::format("{} {} is forbidden: {}", resource.ToString(), Quoted(name), why);
  }
  return ApiError(OfResource(403, Reason::kForbidden, resource, name, std::move(message)));
}

ApiError MethodNotSupported(const GroupResource& resource, std::string_view verb) {
  return ApiError(
      OfResource(405, Reason::kMethodNotAllowed, resource, "",
                 fmt::format("{} is not supported on resources of kind {}", verb, Quoted(resource.ToString()))));
}

ApiError NotAcceptable(std::string_view message) {
  return ApiError(Of(406, Reason::kNotAcceptable, std::string(message)));
}

ApiError UnsupportedMediaType(std::string_view message) {
  return ApiError(Of(415, Reason::kUnsupportedMediaType, std::string(message)));
}

ApiError RequestEntityTooLarge(std::string_view message) {
  return ApiError(Of(413, Reason::kRequestEntityTooLarge, fmt::format("Request entity too large: {}", message)));
}

ApiError TooManyRequests(std::string_view message, int retry_after_seconds) {
  Data data = Of(429, Reason::kTooManyRequests, std::string(message));
  data.has_details = true;
  data.retry_after_seconds = retry_after_seconds;
  return ApiError(std::move(data));
}

ApiError InternalError(std::string_view message) {
  Data data = Of(500, Reason::kInternalError, fmt::format("Internal error occurred: {}", message));
  data.has_details = true;
  data.causes.push_back({"", std::string(message), ""});
  return ApiError(std::move(data));
}

ApiError ServiceUnavailable(std::string_view message, int retry_after_seconds) {
  Data data = Of(503, Reason::kServiceUnavailable, std::string(message));
  data.has_details = retry_after_seconds > 0;
  data.retry_after_seconds = retry_after_seconds;
  return ApiError(std::move(data));
}

ApiError Timeout(std::string_view message, int retry_after_seconds) {
  Data data = Of(504, Reason::kTimeout, fmt::format("Timeout: {}", message));
  data.has_details = true;
  data.retry_after_seconds = retry_after_seconds;
  return ApiError(std::move(data));
}

ApiError ServerTimeout(const GroupResource& resource, std::string_view operation, int retry_after_seconds) {
  Data data =
      OfResource(500, Reason::kServerTimeout, resource, operation,
                 fmt::format("The {} operation against {} could not be completed at this time, please try again.",
                             operation, resource.ToString()));
  data.retry_after_seconds = retry_after_seconds;
  return ApiError(std::move(data));
}

ApiError TooLargeResourceVersion(std::uint64_t asked, std::uint64_t current) {
  Data data =
      Of(504, Reason::kTimeout, fmt::format("Timeout: Too large resource version: {}, current: {}", asked, current));
  data.has_details = true;
  data.retry_after_seconds = 1;
  data.causes.push_back({"ResourceVersionTooLarge", "Too large resource version", ""});
  return ApiError(std::move(data));
}

ApiError GenericNotFound() {
  Data data = Of(404, Reason::kNotFound, "the server could not find the requested resource");
  data.has_details = true;
  return ApiError(std::move(data));
}

ApiError FromStatus(const json::object& status) {
  Data data = Of(500, Reason::kNone, "");
  const auto text = [](const json::object& object, std::string_view key) {
    const json::value* value = object.if_contains(key);
    return value && value->is_string() ? std::string(value->get_string()) : std::string();
  };
  const auto number = [](const json::object& object, std::string_view key) {
    const json::value* value = object.if_contains(key);
    return value && value->is_int64() ? static_cast<int>(value->get_int64()) : 0;
  };
  if (const int code = number(status, "code")) data.code = code;
  std::string reason = text(status, "reason");
  data.reason = ReasonFromString(reason);
  if (data.reason == Reason::kOther) data.other_reason = std::move(reason);
  data.message = text(status, "message");
  if (const json::value* details = status.if_contains("details"); details && details->is_object()) {
    const json::object& object = details->get_object();
    data.has_details = true;
    data.name = text(object, "name");
    data.group = text(object, "group");
    data.kind = text(object, "kind");
    data.uid = text(object, "uid");
    data.retry_after_seconds = number(object, "retryAfterSeconds");
    if (const json::value* causes = object.if_contains("causes"); causes && causes->is_array()) {
      for (const json::value& cause : causes->get_array()) {
        if (!cause.is_object()) continue;
        const json::object& one = cause.get_object();
        data.causes.push_back({text(one, "reason"), text(one, "message"), text(one, "field")});
      }
    }
  }
  return ApiError(std::move(data));
}

void throw_exception_from_error(const ApiError& error, const boost::source_location&) {
  throw std::logic_error("value() on an error: " + error.Message());
}

}  // namespace apimesh::meta
