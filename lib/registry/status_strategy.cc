#include "lib/registry/status_strategy.h"

namespace apimesh::registry {
namespace {

namespace json = meta::json;

/// `object[field]` becomes what `old` has, absent if it has none.
void Keep(std::string_view field, json::object& object, const json::object& old) {
  const json::value* value = meta::FindField(old, field);
  if (value) {
    object[json::string_view(field.data(), field.size())] = *value;
  } else {
    meta::EraseField(object, field);
  }
}

}  // namespace

void SpecStrategy::PrepareForCreate(const meta::RequestContext&, meta::Object& object) const {
  meta::EraseField(object.Root(), "status");
}

void SpecStrategy::PrepareForUpdate(const meta::RequestContext&, meta::Object& object, const meta::Object& old) const {
  Keep("status", object.Root(), old.Root());
}

void StatusStrategy::PrepareForUpdate(const meta::RequestContext&, meta::Object& object, const meta::Object& old) const {
  json::object& root = object.Root();
  std::vector<std::string> fields;
  for (const auto& member : root) fields.emplace_back(member.key());
  for (const auto& member : old.Root()) fields.emplace_back(member.key());
  for (const std::string& field : fields) {
    if (field != "status" && field != "metadata" && field != "kind" && field != "apiVersion") Keep(field, root, old.Root());
  }
  // Labels, annotations and owners are not part of a status update; finalizers are (controllers remove theirs this way).
  for (const std::string_view field : {"labels", "annotations", "ownerReferences"}) {
    Keep(field, object.Metadata(), old.Metadata());
  }
}

Subresource MakeStatusSubresource(StrategyPtr base) {
  Subresource status;
  status.name = "status";
  status.verbs = {"get", "patch", "update"};
  status.strategy = std::make_shared<StatusStrategy>(std::move(base));
  return status;
}

}  // namespace apimesh::registry
