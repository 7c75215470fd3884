#include "lib/patch/managed_fields.h"

#include "lib/patch/managers.h"

namespace apimesh::patch {
namespace {

namespace json = meta::json;

/// [] or [{}]: the client wants to start afresh.
bool IsReset(const json::value* entries) {
  if (!entries || !entries->is_array()) return false;
  const json::array& list = entries->get_array();
  return list.empty() || (list.size() == 1 && list[0].is_object() && list[0].get_object().empty());
}

}  // namespace

meta::Result<> UpdateManagedFields(const meta::Object* live, meta::Object& updated, const schema::Node& node,
                                   const ManagerInfo& manager, const ResetFields& reset) {
  TextArena arena;
  Owners owners;
  // Taken out before anything borrows from the document, and alive until the new entries are written.
  json::value given;
  if (json::value* entries = meta::FindField(updated.Metadata(), "managedFields")) {
    given = std::move(*entries);
    updated.EraseMeta("managedFields");
  }
  // Entries in the body of a subresource request do not count; broken or missing ones do not delete what is there.
  bool use_live = !manager.subresource.empty();
  if (!use_live && !IsReset(&given)) use_live = !owners.Decode(&given, arena).empty() || owners.Empty();
  if (use_live) {
    const json::value* entries = live ? meta::FindField(live->Metadata(), "managedFields") : nullptr;
    if (!owners.Decode(entries, arena).empty()) owners.All().clear();
  }
  const bool created = !live || live->Uid().empty();
  if (owners.Empty() && !created) return {};

  static const meta::Object kNothing{json::object()};
  OwnershipChange change(node, manager, reset, arena);
  // An object that cannot be compared is no reason to refuse a write; it just has no owners.
  if (!change.Update(live ? *live : kNothing, updated, owners, manager.manager)) return {};
  if (owners.Empty()) return {};
  // Written to a value of its own first: the sets borrow keys of the document that this changes.
  json::array encoded = owners.Encode(updated.Root().storage());
  updated.Metadata()["managedFields"] = std::move(encoded);
  return {};
}

}  // namespace apimesh::patch
