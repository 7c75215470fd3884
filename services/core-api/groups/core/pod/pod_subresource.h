#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

/// What pods/resize and pods/ephemeralcontainers have in common: they change one part of the spec and nothing else.
class PodSubresource : public registry::Strategy {
 public:
  void Default(meta::json::object& pod) const override;

 protected:
  /// Restores the status and the metadata that only a write of the pod itself changes.
  static void KeepMetadataAndStatus(meta::Object& pod, const meta::Object& old);
  /// Increments metadata.generation if the spec has changed.
  static void CountGeneration(meta::Object& pod, const meta::Object& old);
};

}  // namespace apimesh::core_api
