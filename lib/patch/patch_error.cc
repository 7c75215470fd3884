#include "lib/patch/patch_error.h"

namespace apimesh::patch {

meta::ApiError DoesNotApply() {
  meta::ApiError::Data data;
  data.code = 422;
  data.reason = "Invalid";
  data.message = "the server rejected our request due to an error in our request";
  data.has_details = true;
  return meta::ApiError(std::move(data));
}

meta::ApiError PlainError(std::string_view message) {
  meta::ApiError::Data data;
  data.reason.clear();
  data.message = message;
  return meta::ApiError(std::move(data));
}

}  // namespace apimesh::patch
