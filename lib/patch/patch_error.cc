#include "lib/patch/patch_error.h"

namespace apimesh::patch {

meta::ApiError DoesNotApply() {
  return meta::RouterError(422, meta::Reason::kInvalid,
                           "the server rejected our request due to an error in our request");
}

}  // namespace apimesh::patch
