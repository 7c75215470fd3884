#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/meta/object.h"
#include "lib/patch/field_set.h"
#include "lib/patch/managed_fields.h"
#include "lib/patch/typed.h"

/// metadata.managedFields, decoded. Internal to lib/patch.
namespace apimesh::patch {

/// One entry: who, how, in which version, what.
struct Owner {
  std::string manager;
  bool applied = false;
  std::string api_version;
  std::string subresource;
  std::string time;  // RFC 3339; may be empty
  FieldSet set;
  const meta::json::object* wire = nullptr;  // what `set` was read from; nullptr once it changed

  /// Appliers are the same in all versions.
  bool SameIdentity(const Owner& other) const;
  /// `"kubectl" with subresource "status" using v1`, as texts about conflicts say it.
  std::string ToString() const;
};

class Owners {
 public:
  /// Reads entries; an error text if one makes no sense. Borrows strings from `entries`.
  std::string Decode(const meta::json::value* entries, TextArena& arena);
  /// The entries in the reference's order: appliers first, then by time and name.
  meta::json::array Encode(const meta::json::storage_ptr& storage) const;

  bool Empty() const { return owners_.empty(); }
  std::vector<Owner>& All() { return owners_; }
  const std::vector<Owner>& All() const { return owners_; }
  Owner* Find(const Owner& identity);
  void Remove(const Owner& identity);
  void RemoveEmpty();
  /// Merges the oldest updaters until at most ten are left.
  void CapUpdaters();

 private:
  /// Of entries with the same identity, the last one counts.
  void KeepLastOfEach();
  void EraseMarked(const std::vector<bool>& marked);

  std::vector<Owner> owners_;
};

/// Metadata that nobody owns, because the server manages it.
const FieldSet& UnownedFields();
FieldSet ToFieldSet(const ResetFields& fields, TextArena& arena);

/// One write's view of who owns what, while it changes an object from `live` to something new.
class OwnershipChange {
 public:
  OwnershipChange(const schema::Node& node, const ManagerInfo& info, const ResetFields& reset, TextArena& arena)
      : node_(node), info_(info), reset_(ToFieldSet(reset, arena)), arena_(arena) {}

  /// A conflict: somebody else owns what changed.
  struct Conflict {
    std::shared_ptr<const Owner> owner;  // only its identity
    FieldSet::Path path;
  };

  /// Brings sets in line with the schema, drops owners of versions that are gone.
  void Reconcile(const meta::Object& live, Owners& owners);
  /// Takes from all owners but `self` what changed. Without `force`, owners stay as they are if anything conflicts.
  std::vector<Conflict> Take(const meta::Object& live, const meta::Object& updated, Owners& owners, const Owner* self,
                             bool force);
  /// An update by `manager`: it owns what it changed. False if the documents cannot be compared.
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
  std::vector<ManagerInfo::View> views_;  // sets borrow from these
};

}  // namespace apimesh::patch
