#include "lib/admission/plugin.h"

namespace apimesh::admission {

std::string_view ToString(Operation operation) {
  switch (operation) {
    case Operation::kCreate: return "CREATE";
    case Operation::kUpdate: return "UPDATE";
    case Operation::kDelete: return "DELETE";
    case Operation::kConnect: return "CONNECT";
  }
  return "";
}

void Attributes::ReplaceObject(meta::Object changed) {
  if (!replaced_managed_fields) {
    const meta::json::value* before = meta::FindField(std::as_const(*object).Metadata(), "managedFields");
    replaced_managed_fields = before ? *before : meta::json::value();
  }
  *object = std::move(changed);
}

Task<meta::Result<>> Plugin::Mutate(meta::RequestContext, Attributes&) { co_return meta::Result<>(); }
Task<meta::Result<>> Plugin::Validate(meta::RequestContext, const Attributes&) { co_return meta::Result<>(); }

meta::ApiError Forbidden(const Attributes& attributes, std::string_view why) {
  std::string name(attributes.RequestName());
  if (name.empty() && attributes.object) name = attributes.object->Name();
  if (name.empty() && attributes.object) name = attributes.object->GenerateName();
  return meta::Forbidden(attributes.resource.GroupResource(), name.empty() ? "Unknown" : name, why);
}

}  // namespace apimesh::admission
