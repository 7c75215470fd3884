#include "lib/patch/apply/managed_fields.h"

#include "lib/patch/apply/managers.h"
#include "lib/patch/apply/typed.h"

namespace apimesh::patch {
namespace {

namespace json = meta::json;

/// Returns whether the entries are [] or [{}], with which a client resets all ownership.
bool IsReset(const json::value* entries) {
  if (!entries || !entries->is_array()) return false;
  const json::array& list = entries->get_array();
  return list.empty() || (list.size() == 1 && list[0].is_object() && list[0].get_object().empty());
}

/// Returns whether the fields that the request may not set have the types of their schema. Values of other types are
/// not refused, because these fields are reset, but the objects cannot be compared. Built-in kinds are decoded by type.
bool ResetFieldsFit(const schema::Node& node, const json::object& object, const ResetFields& reset) {
  if (!node.custom) return true;
  for (const std::string& name : reset) {
    const schema::Field* field = node.FindField(name);
    const json::value* value = field && field->schema->custom ? meta::FindField(object, name) : nullptr;
    if (value && !FitsType(*field->schema, *value)) return false;
  }
  return true;
}

}  // namespace

meta::Result<> UpdateManagedFields(const meta::Object* live, meta::Object& updated, const schema::Node& node,
                                   const ManagerInfo& manager, const ResetFields& reset) {
  TextArena arena;
  Owners owners;
  // The entries are removed from the document before anything refers to it, and live until the new entries are encoded.
  // They use the storage of the document, because moving a value to another storage copies it.
  json::value given(updated.Root().storage());
  if (json::value* entries = meta::FindField(updated.Metadata(), "managedFields")) {
    given = std::move(*entries);
    updated.EraseMeta("managedFields");
  }
  // Entries in the body of a subresource request are ignored. Invalid or missing entries do not delete those of the
  // live object.
  bool use_live = !manager.subresource.empty();
  if (!use_live && !IsReset(&given)) use_live = !owners.Decode(&given, arena).empty() || owners.Empty();
  if (use_live) {
    const json::value* entries = live ? meta::FindField(live->Metadata(), "managedFields") : nullptr;
    if (!owners.Decode(entries, arena).empty()) owners.All().clear();
  }
  const bool created = !live || live->Uid().empty();
  if (owners.Empty() && !created) return {};

  if (!ResetFieldsFit(node, updated.Root(), reset)) return {};
  static const meta::Object kNothing{json::object()};
  OwnershipChange change(node, manager, reset, arena);
  // A write of an object that cannot be compared is not refused; the object has no owners.
  if (!change.Update(live ? *live : kNothing, updated, owners, manager.manager)) return {};
  if (owners.Empty()) return {};
  // The entries are encoded to a separate value first, because the sets refer to keys of the document that is changed
  // here.
  json::array encoded = owners.Encode(updated.Root().storage(), node.custom);
  updated.Metadata()["managedFields"] = std::move(encoded);
  return {};
}

std::string CheckManagedFields(const meta::Object& object) {
  TextArena arena;
  return Owners().Decode(meta::FindField(object.Metadata(), "managedFields"), arena);
}

}  // namespace apimesh::patch
