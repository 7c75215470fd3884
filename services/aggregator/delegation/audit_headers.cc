#include "services/aggregator/delegation/audit_headers.h"

#include "lib/mesh/audit_headers.h"

namespace apimesh::aggregator {

void TakeAuditHeaders(mesh::Headers& headers, Exchange& exchange) {
  std::erase_if(headers, [&exchange](auto& header) {
    AuditNotes& notes = exchange.audit;
    if (!header.first.starts_with("x-apimesh-audit-")) return false;
    if (notes.foreign) return true;
    if (header.first == mesh::kAuditReferenceHeader && !exchange.long_running) {
      notes.reference = std::move(header.second);
    } else if (header.first == mesh::kAuditObjectHeader && !exchange.long_running) {
      notes.object = SharedBytes(std::move(header.second));
    } else if (header.first == mesh::kAuditAnnotationHeader) {
      const std::size_t equals = std::min(header.second.find('='), header.second.size());
      // A key that is already set keeps its value, as in kube-apiserver.
      notes.annotations.try_emplace(header.second.substr(0, equals),
                                    header.second.substr(std::min(equals + 1, header.second.size())));
    }
    return true;
  });
}

}  // namespace apimesh::aggregator
