#pragma once

#include "lib/meta/field_error.h"
#include "lib/meta/object.h"

namespace apimesh::core_api {

/// What an update may change, by the path that it takes.
enum class CsrUpdate {
  kRequest,   // neither approval nor certificate
  kStatus,    // the certificate, once
  kApproval,  // the conditions Approved and Denied
};

meta::FieldErrors ValidateCsr(const meta::Object& request);
/// Tolerates what is wrong in `old` already, as kube-apiserver does, so that such a request can still be changed and deleted.
meta::FieldErrors ValidateCsrUpdate(const meta::Object& request, const meta::Object& old, CsrUpdate update);

/// Rules of the names of signers: "example.com/name".
void CheckSignerName(const std::string& field, std::string_view signer, meta::FieldErrors& errors);

}  // namespace apimesh::core_api
