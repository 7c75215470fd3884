#include "lib/registry/status_strategy.h"

#include "lib/registry/keep_field.h"

namespace apimesh::registry {

namespace json = meta::json;

void SpecStrategy::PrepareForCreate(const meta::RequestContext&, meta::Object& object) const {
  meta::EraseField(object.Root(), "status");
}

void SpecStrategy::PrepareForUpdate(const meta::RequestContext&, meta::Object& object, const meta::Object& old) const {
  KeepField("status", object.Root(), old.Root());
}

void StatusStrategy::PrepareForUpdate(const meta::RequestContext&, meta::Object& object,
                                      const meta::Object& old) const {
  json::object& root = object.Root();
  std::vector<std::string> fields;
  for (const auto& member : root) fields.emplace_back(member.key());
  for (const auto& member : old.Root()) fields.emplace_back(member.key());
  for (const std::string& field : fields) {
    if (field != "status" && field != "metadata" && field != "kind" && field != "apiVersion")
      KeepField(field, root, old.Root());
  }
  for (const std::string_view field : kept_) KeepField(field, object.Metadata(), old.Metadata());
}

const KeptMetadata& AllMetadata() {
  static const KeptMetadata all = {"labels", "annotations", "finalizers", "ownerReferences"};
  return all;
}

patch::ResetFields StatusResetFields(const KeptMetadata& kept) {
  patch::ResetFields fields = {"spec"};
  if (kept == AllMetadata()) {
    fields.insert("metadata");
  } else {
    for (const std::string_view field : kept) fields.insert("metadata." + std::string(field));
  }
  return fields;
}

Subresource MakeStatusSubresource(StrategyPtr base, const KeptMetadata& kept) {
  Subresource status;
  status.name = "status";
  status.verbs = {meta::Verb::kGet, meta::Verb::kPatch, meta::Verb::kUpdate};
  status.strategy = std::make_shared<StatusStrategy>(std::move(base), kept);
  status.reset_fields = StatusResetFields(kept);
  return status;
}

}  // namespace apimesh::registry
