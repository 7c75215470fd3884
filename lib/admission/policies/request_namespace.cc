#include "lib/admission/policies/request_namespace.h"

namespace apimesh::admission::policies {

std::string NamespaceOf(const Attributes& attributes) {
  const bool is_namespace = attributes.kind.group.empty() && attributes.kind.version == "v1" &&
                            attributes.kind.kind.compare("Namespace") == 0;
  return is_namespace ? "" : attributes.ns;
}

}  // namespace apimesh::admission::policies
