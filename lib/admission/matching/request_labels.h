#pragma once

#include <optional>

#include "lib/admission/objects/object_table.h"
#include "lib/admission/plugin.h"

namespace apimesh::admission::matching {

/// The labels with which the selectors of many criteria are compared for one request. Each is read once. Used by one
/// coroutine at a time.
class RequestLabels {
 public:
  /// `attributes` must outlive this object.
  explicit RequestLabels(const Attributes& attributes) : attributes_(attributes) {}

  /// nullptr if the request has no such object.
  const meta::Labels* Object() { return Read(attributes_.object, object_); }
  const meta::Labels* OldObject() { return Read(attributes_.old_object, old_object_); }
  /// The labels of the namespace of the request, or nullptr if they have not been read from the cluster yet.
  const meta::Labels* Namespace() const { return namespace_ ? &*namespace_ : nullptr; }
  void SetNamespace(meta::Labels labels) { namespace_ = std::move(labels); }
  /// Must be called after attributes.object has been changed.
  void Forget() { object_.reset(); }

 private:
  static const meta::Labels* Read(const meta::Object* from, std::optional<meta::Labels>& labels) {
    if (from && !labels) labels = LabelsOf(*from);
    return from ? &*labels : nullptr;
  }

  const Attributes& attributes_;
  std::optional<meta::Labels> object_, old_object_, namespace_;
};

}  // namespace apimesh::admission::matching
