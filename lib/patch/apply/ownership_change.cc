#include <map>

#include "lib/meta/time.h"
#include "lib/patch/apply/managers.h"

namespace apimesh::patch {

Changes OwnershipChange::Compare(const schema::Node& node, const meta::json::object& live,
                                 const meta::json::object& updated) {
  Changes changes = CompareTyped(node, live, updated, arena_, errors_);
  for (FieldSet* set : {&changes.removed, &changes.modified, &changes.added}) set->SubtractTrees(reset_);
  return changes;
}

void OwnershipChange::Reconcile(const meta::Object& live, Owners& owners) {
  std::map<std::string, const schema::Node*> nodes;  // nullptr: the version no longer exists
  std::erase_if(owners.All(), [&](Owner& owner) {
    const schema::Node* node = &node_;
    if (owner.api_version != info_.api_version && info_.convert) {
      const auto [known, is_new] = nodes.try_emplace(owner.api_version, nullptr);
      if (is_new) {
        const std::optional<ManagerInfo::View> view = info_.convert(live, owner.api_version);
        if (view) known->second = view->node;
      }
      node = known->second;
      if (!node) return true;
    }
    if (ReconcileWithSchema(*node, owner.set)) owner.wire = nullptr;
    return false;
  });
}

std::vector<OwnershipChange::Conflict> OwnershipChange::Take(const meta::Object& live, const meta::Object& updated,
                                                             Owners& owners, const Owner* self, bool force) {
  changes_ = Compare(node_, live.Root(), updated.Root());
  FieldSet changed;
  if (!owners.Empty()) changed = changes_.modified.Union(changes_.added);
  struct VersionChanges {
    FieldSet changed, removed;
  };
  std::map<std::string, std::optional<VersionChanges>> other_versions;  // nullopt: the version no longer exists
  std::vector<Conflict> conflicts;
  struct Taken {
    Owner* owner;
    FieldSet fields;
    const FieldSet* removed;
  };
  std::vector<Taken> taken;
  for (Owner& owner : owners.All()) {
    if (self && owner.SameIdentity(*self)) continue;
    const FieldSet* theirs = &changed;
    const FieldSet* removed = &changes_.removed;
    if (owner.api_version != info_.api_version && info_.convert) {
      const auto [it, is_new] = other_versions.try_emplace(owner.api_version);
      if (is_new) {
        std::optional<ManagerInfo::View> before = info_.convert(live, owner.api_version);
        std::optional<ManagerInfo::View> after = info_.convert(updated, owner.api_version);
        if (before && after) {
          const schema::Node& node = *before->node;
          views_.push_back(std::move(*before));
          views_.push_back(std::move(*after));
          // The sets refer to names in the documents of the views, whose storage does not move when the vector grows.
          Changes changes = Compare(node, views_[views_.size() - 2].object.Root(), views_.back().object.Root());
          it->second = VersionChanges{changes.modified.Union(changes.added), std::move(changes.removed)};
        }
      }
      if (!it->second) {
        owner.set = FieldSet();
        continue;
      }
      theirs = &it->second->changed;
      removed = &it->second->removed;
    }
    FieldSet conflict = owner.set.Intersection(*theirs);
    if (!conflict.Empty() && !force) {
      const auto identity = std::make_shared<Owner>();
      identity->manager = owner.manager;
      identity->applied = owner.applied;
      identity->api_version = owner.api_version;
      identity->subresource = owner.subresource;
      conflict.ForEach([&](const FieldSet::Path& path) { conflicts.push_back({identity, path}); });
    }
    taken.push_back({&owner, std::move(conflict), removed});
  }
  if (!conflicts.empty()) return conflicts;
  for (Taken& one : taken) {
    if (one.fields.Empty() && one.removed->Empty()) continue;
    one.owner->wire = nullptr;
    one.owner->set.Subtract(one.fields);
    one.owner->set.Subtract(*one.removed);
  }
  owners.RemoveEmpty();
  return {};
}

bool OwnershipChange::Update(const meta::Object& live, const meta::Object& updated, Owners& owners,
                             std::string_view manager) {
  Reconcile(live, owners);
  Take(live, updated, owners, nullptr, true);
  if (!errors_.empty()) return false;
  FieldSet changed = std::move(changes_.modified);
  changed.Add(std::move(changes_.added));
  changed.Subtract(UnownedFields());
  if (!changed.Empty()) {
    Owner self;
    self.manager = manager.empty() ? "unknown" : manager;
    self.api_version = info_.api_version;
    self.subresource = info_.subresource;
    Owner* previous = owners.Find(self);
    if (!previous) previous = &owners.All().emplace_back(std::move(self));
    previous->set.Add(std::move(changed));
    previous->wire = nullptr;
    previous->time = meta::FormatTime(info_.now);
  }
  owners.CapUpdaters();
  return true;
}

}  // namespace apimesh::patch
