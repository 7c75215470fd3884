#include "lib/admission/default_class.h"

#include <algorithm>

#include <fmt/format.h>

namespace apimesh::admission {

Task<meta::Result<ObjectPtr>> FindDefaultClass(meta::RequestContext ctx, ObjectsPtr objects, meta::Gvr resource,
                                               std::vector<std::string_view> annotations) {
  if (!objects) co_return meta::InternalError(fmt::format("{} cannot be read here", resource.resource));
  meta::LabelSelector all;
  ASSIGN_OR_CO_RETURN(const std::vector<ObjectPtr> classes,
                      co_await objects->List(ctx, resource, "", all, Read::kCached));
  ObjectPtr chosen;
  for (const ObjectPtr& one : classes) {
    const bool marked = std::any_of(annotations.begin(), annotations.end(), [&one](std::string_view annotation) {
      const meta::json::string* value = one->Annotation(annotation);
      return value && std::string_view(*value) == "true";
    });
    if (!marked) continue;
    // Times have one format, so they are in the order of their texts.
    const auto age = [](const meta::Object& object) {
      return meta::FindString(object.Metadata(), "creationTimestamp");
    };
    const bool better =
        !chosen || age(*one) > age(*chosen) || (age(*one) == age(*chosen) && one->Name() < chosen->Name());
    if (better) chosen = one;
  }
  co_return chosen;
}

}  // namespace apimesh::admission
