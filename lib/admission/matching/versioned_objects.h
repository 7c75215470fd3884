#pragma once

#include <map>
#include <optional>

#include "lib/admission/plugin.h"

namespace apimesh::admission::matching {

/// The object and the old object of one request in the kinds in which webhooks and policies want to see them. Each
/// conversion is made once. Used by one coroutine at a time.
class VersionedObjects {
 public:
  struct Pair {
    const meta::Object* object = nullptr;      // nullptr if the request has none
    const meta::Object* old_object = nullptr;  // nullptr if the request has none
  };
  /// `attributes` must outlive this object.
  explicit VersionedObjects(const Attributes& attributes) : attributes_(attributes) {}

  /// Returns the objects in this kind. They are valid until Forget() is called. If they have this kind already, they
  /// are not copied.
  Task<meta::Result<Pair>> In(meta::RequestContext ctx, meta::Gvk kind);
  /// Must be called after attributes.object has been changed.
  void Forget() { converted_.clear(); }

 private:
  struct Converted {
    std::optional<meta::Object> object, old_object;
  };
  Task<meta::Result<std::optional<meta::Object>>> Convert(meta::RequestContext ctx, const meta::Object* object,
                                                          meta::Gvk kind) const;

  const Attributes& attributes_;
  std::map<meta::Gvk, Converted> converted_;
};

}  // namespace apimesh::admission::matching
