#pragma once

#include <string>
#include <string_view>

#include "lib/codec/negotiation.h"

namespace apimesh::codec {

/// The negotiated representation of a page for diagnosis (/statusz, /flagz): text, or an object of config.k8s.io.
struct PageType {
  bool text = true;
  Format format = Format::kJson;  // of the object: JSON or YAML
  std::string version;            // of the object: "v1beta1" or "v1alpha1"
  bool pretty = false;
};

/// Selects the best clause of an Accept header; "" means text. An object must be named completely: "as" is `kind`, "g"
/// is config.k8s.io. Otherwise returns a 406 that lists the supported types.
meta::Result<PageType> NegotiatePage(std::string_view accept, std::string_view kind);

}  // namespace apimesh::codec
