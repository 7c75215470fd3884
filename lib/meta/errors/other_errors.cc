#include "lib/meta/errors/other_errors.h"

namespace apimesh::meta {

ApiError PlainError(std::string message) {
  ApiError::Data data;
  data.reason = Reason::kNone;
  data.message = std::move(message);
  return ApiError(std::move(data));
}

ApiError RouterError(int code, Reason reason, std::string message) {
  ApiError::Data data;
  data.code = code;
  data.reason = reason;
  data.message = std::move(message);
  data.has_details = true;
  return ApiError(std::move(data));
}

}  // namespace apimesh::meta
