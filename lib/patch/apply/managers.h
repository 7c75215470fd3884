#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/meta/object.h"
#include "lib/patch/apply/field_set.h"
#include "lib/patch/apply/managed_fields.h"
#include "lib/patch/apply/typed.h"

/// metadata.managedFields, decoded. Internal to lib/patch.
namespace apimesh::patch {

/// One entry: the manager, its operation, the API version and the fields it owns.
struct Owner {
  std::string manager;
  bool applied = false;
  std::string api_version;
  std::string subresource;
  std::string time;  // RFC 3339; may be empty
  FieldSet set;
  const meta::json::object* wire = nullptr;  // the FieldsV1 that `set` was decoded from; nullptr once `set` has changed

  /// Returns whether both entries belong to the same manager. The API version is ignored for apply entries.
  bool SameIdentity(const Owner& other) const;
  /// `"kubectl" with subresource "status" using v1`, as conflict messages show it.
  std::string ToString() const;
};

class Owners {
 public:
  /// Decodes entries. Returns an error text if one is invalid. The sets refer to strings in `entries`.
  std::string Decode(const meta::json::value* entries, TextArena& arena);
  /// Returns the entries in kube-apiserver's order: apply entries first, then by time and name. `sorted_keys` as in
  /// FieldSet::ToJson().
  meta::json::array Encode(const meta::json::storage_ptr& storage, bool sorted_keys) const;

  bool Empty() const { return owners_.empty(); }
  std::vector<Owner>& All() { return owners_; }
  const std::vector<Owner>& All() const { return owners_; }
  Owner* Find(const Owner& identity);
  void Remove(const Owner& identity);
  void RemoveEmpty();
  /// Merges the oldest update entries until at most ten are left, as far as their API versions allow.
  void CapUpdaters();

 private:
  /// Keeps only the last of several entries with the same identity.
  void KeepLastOfEach();
  void EraseMarked(const std::vector<bool>& marked);

  std::vector<Owner> owners_;
};

/// Returns the fields that never have an owner, because the server manages them.
const FieldSet& UnownedFields();
FieldSet ToFieldSet(const ResetFields& fields, TextArena& arena);

/// The change of ownership by one write, which changes an object from `live` to a new state.
class OwnershipChange {
 public:
  OwnershipChange(const schema::Node& node, const ManagerInfo& info, const ResetFields& reset, TextArena& arena)
      : node_(node), info_(info), reset_(ToFieldSet(reset, arena)), arena_(arena) {}

  /// A changed field that another manager owns.
  struct Conflict {
    std::shared_ptr<const Owner> owner;  // only its identity
    FieldSet::Path path;
  };

  /// Adapts the sets to the schema and drops owners of API versions that no longer exist.
  void Reconcile(const meta::Object& live, Owners& owners);
  /// Removes the changed fields from all owners except `self`. Without `force`, no field changes its owner if there is
  /// a conflict.
  std::vector<Conflict> Take(const meta::Object& live, const meta::Object& updated, Owners& owners, const Owner* self,
                             bool force);
  /// Records an update by `manager`, which owns the fields that it changed. Returns false if the documents cannot be
  /// compared.
  bool Update(const meta::Object& live, const meta::Object& updated, Owners& owners, std::string_view manager);

  const Changes& LastChanges() const { return changes_; }
  void SubtractReset(FieldSet& set) const { set.SubtractTrees(reset_); }
  const TypeErrors& Errors() const { return errors_; }

 private:
  Changes Compare(const schema::Node& node, const meta::json::object& live, const meta::json::object& updated);

  const schema::Node& node_;
  const ManagerInfo& info_;
  FieldSet reset_;
  TextArena& arena_;
  Changes changes_;
  TypeErrors errors_;
  std::vector<ManagerInfo::View> views_;  // field sets refer to strings in these
};

}  // namespace apimesh::patch
