#include "lib/endpoint/input/audit_record.h"

#include "lib/codec/codec.h"
#include "lib/mesh/audit_headers.h"
#include "lib/meta/object.h"

namespace apimesh::endpoint {
namespace json = meta::json;

void RecordForAudit(const ResourceRequest& request, const json::object& body) {
  const std::string_view wants = request.http.Header(mesh::kAuditWantsHeader);
  if (wants.empty()) return;
  json::object reference;
  if (const json::value* metadata = meta::FindField(body, "metadata"); metadata && metadata->is_object()) {
    for (const char* key : {"namespace", "name", "uid", "resourceVersion"}) {
      const std::string_view value = meta::FindString(metadata->get_object(), key);
      if (!value.empty()) reference[key] = value;
    }
  }
  request.extra_headers.emplace_back(mesh::kAuditReferenceHeader, codec::WriteJson(reference));
  if (wants == mesh::kAuditObject) {
    request.extra_headers.emplace_back(mesh::kAuditObjectHeader, codec::WriteJson(body));
  }
}

}  // namespace apimesh::endpoint
