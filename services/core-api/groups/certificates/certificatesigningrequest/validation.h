#pragma once

#include "lib/meta/errors/field_error.h"
#include "lib/meta/object.h"

namespace apimesh::core_api {

/// The parts that an update may change, which depend on the path of the request.
enum class CsrUpdate {
  kRequest,   // neither approval nor certificate
  kStatus,    // the certificate, once
  kApproval,  // the conditions Approved and Denied
};

meta::FieldErrors ValidateCsr(const meta::Object& request);
/// Tolerates errors that `old` has as well, as kube-apiserver does, so that such a request can still be changed and
/// deleted.
meta::FieldErrors ValidateCsrUpdate(const meta::Object& request, const meta::Object& old, CsrUpdate update);

}  // namespace apimesh::core_api
