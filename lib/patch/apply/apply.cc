#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "lib/meta/object_meta.h"
#include "lib/meta/time.h"
#include "lib/patch/apply/managed_fields.h"
#include "lib/patch/apply/managers.h"
#include "lib/patch/apply/typed_schema.h"
#include "lib/patch/patch_error.h"

namespace apimesh::patch {
namespace {

namespace json = meta::json;
using meta::Result;

constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";
using Conflicts = std::vector<OwnershipChange::Conflict>;

/// Returns "namespace/name; group/version, Kind=K".
std::string Describe(const meta::Object& object) {
  return fmt::format("{}/{}; {}", object.Namespace(), object.Name(), object.GetGvk().ToString());
}

// A manager may own 100,000 fields. The message has the number of all conflicts, but only kMaxConflicts are listed, and
// none after kMaxConflictBytes of text.
constexpr std::size_t kMaxConflicts = 1000;
constexpr std::size_t kMaxConflictBytes = 1 << 20;

meta::ApiError ConflictError(Conflicts conflicts) {
  std::stable_sort(conflicts.begin(), conflicts.end(), [](const auto& a, const auto& b) {
    return std::tie(a.owner->manager, a.owner->applied, a.owner->api_version, a.owner->subresource) <
           std::tie(b.owner->manager, b.owner->applied, b.owner->api_version, b.owner->subresource);
  });
  meta::ApiError::Data data;
  data.code = 409;
  data.reason = meta::Reason::kConflict;
  data.has_details = true;
  std::string lines;
  std::size_t bytes = 0;
  const Owner* last = nullptr;
  for (const auto& conflict : conflicts) {
    if (data.causes.size() >= kMaxConflicts || bytes >= kMaxConflictBytes) {
      lines += "\n- too many conflicts";
      break;
    }
    const std::string path = ToString(conflict.path);
    const std::string owner = conflict.owner->ToString();
    data.causes.push_back({"FieldManagerConflict", fmt::format("conflict with {}", owner), path});
    if (!last || !last->SameIdentity(*conflict.owner)) {
      lines += fmt::format("{}conflicts with {}:", lines.empty() ? "" : "\n", owner);
    }
    last = conflict.owner.get();
    lines += fmt::format("\n- {}", path);
    bytes += owner.size() + path.size();
  }
  data.message = conflicts.size() == 1 ? fmt::format("Apply failed with 1 conflict: conflict with {}: {}",
                                                     conflicts[0].owner->ToString(), data.causes[0].field)
                                       : fmt::format("Apply failed with {} conflicts: {}", conflicts.size(), lines);
  return meta::ApiError(std::move(data));
}

json::value WithSortedKeys(const json::value& value) {
  if (value.is_array()) {
    json::array out;
    for (const json::value& one : value.get_array()) out.push_back(WithSortedKeys(one));
    return out;
  }
  if (!value.is_object()) return value;
  std::vector<std::pair<std::string_view, const json::value*>> fields;
  for (const auto& [key, one] : value.get_object()) fields.emplace_back(key, &one);
  std::sort(fields.begin(), fields.end());
  json::object out;
  for (const auto& [key, one] : fields) out.emplace(key, WithSortedKeys(*one));
  return out;
}

class Application {
 public:
  Application(const schema::Node& node, const ManagerInfo& info, const ResetFields& reset)
      : node_(node), info_(info), change_(node, info, reset, arena_) {}

  Result<meta::Object> Run(const meta::Object& live, const meta::Object& applied, bool force) {
    if (std::string error = owners_.Decode(meta::FindField(live.Metadata(), "managedFields"), arena_); !error.empty()) {
      return PlainError("failed to decode managed fields: " + error);
    }
    if (owners_.Empty()) {
      static const meta::Object kNothing{json::object()};
      change_.Update(kNothing, live, owners_, "before-first-apply");
    }
    const json::value* entries = meta::FindField(applied.Metadata(), "managedFields");
    if (entries && !entries->is_null()) return meta::BadRequest("metadata.managedFields must be nil");
    if (const TypeErrors errors = ValidateTypes(node_, applied.Root(), false); !errors.empty()) {
      return PlainError(
          fmt::format("failed to create typed patch object ({}): {}", Describe(applied), ToString(errors)));
    }
    self_.manager = info_.manager;
    self_.applied = true;
    self_.api_version = info_.api_version;
    self_.subresource = info_.subresource;

    const Owners before = owners_;
    ASSIGN_OR_RETURN(meta::Object merged, MergeAndPrune(live, applied));
    Conflicts conflicts = change_.Take(live, merged, owners_, &self_, force);
    if (!conflicts.empty() && info_.manager == "kubectl") {
      // kubectl's client-side apply owns its fields under another manager name. kubectl may change the values that it
      // set last.
      RemoveAllowed(live, conflicts);
      if (conflicts.empty()) {
        owners_ = before;
        ASSIGN_OR_RETURN(merged, MergeAndPrune(live, applied));
        change_.Take(live, merged, owners_, &self_, true);
      }
    }
    if (!conflicts.empty()) return ConflictError(std::move(conflicts));
    return Finish(live, std::move(merged), applied);
  }

 private:
  Result<meta::Object> MergeAndPrune(const meta::Object& live, const meta::Object& applied) {
    change_.Reconcile(live, owners_);
    TypeErrors errors;
    meta::Object merged(MergeTyped(node_, live.Root(), applied.Root(), errors));
    if (!errors.empty()) return PlainError("failed to merge config: " + ToString(errors));
    const Owner* previous = owners_.Find(self_);
    const std::optional<Owner> last = previous ? std::optional<Owner>(*previous) : std::nullopt;
    owners_.Remove(self_);
    Owner now = self_;
    if (last) now.time = last->time;
    now.set = ToFieldSet(node_, applied.Root(), arena_);
    change_.SubtractReset(now.set);
    owners_.All().push_back(std::move(now));
    if (!last || last->set.Empty()) return merged;
    return Prune(merged, *last);
  }

  /// Returns `pruned` with those fields of `all` restored that are in `managed`.
  meta::Object AddBack(const schema::Node& node, const json::object& all, const json::object& pruned,
                       const FieldSet& managed) {
    const FieldSet all_set = ToFieldSet(node, all, arena_).WithNamedFields(&node);
    const FieldSet kept = ToFieldSet(node, pruned, arena_).WithNamedFields(&node);
    return meta::Object(RemoveItems(node, all, all_set.Difference(kept.Union(managed.WithNamedFields(&node)))));
  }

  /// Removes the fields that this manager applied last time and no longer mentions, unless another manager owns them.
  Result<meta::Object> Prune(const meta::Object& merged, const Owner& last) {
    const schema::Node* node = &node_;
    const meta::Object* seen = &merged;
    std::optional<ManagerInfo::View> view;
    if (last.api_version != info_.api_version && info_.convert) {
      view = info_.convert(merged, last.api_version);
      if (!view) return merged;
      node = view->node;
      seen = &view->object;
    }
    const json::object& all = seen->Root();
    const FieldSet last_set = last.set.WithNamedFields(node);

    // Fields of other managers are restored, in the API version in which they own them, then fields that this manager
    // never owned.
    std::map<std::string_view, std::vector<FieldSet>> sets;
    for (const Owner& owner : owners_.All()) {
      sets[info_.convert ? std::string_view(owner.api_version) : std::string_view(last.api_version)].push_back(
          owner.set);
    }
    std::map<std::string_view, FieldSet> managed;
    for (auto& [version, of_version] : sets) managed[version] = FieldSet::UnionOf(std::move(of_version));
    meta::Object owned = AddBack(*node, all, RemoveItems(*node, all, last_set), managed[last.api_version]);
    for (const auto& [version, set] : managed) {
      if (version == last.api_version) continue;
      const std::optional<ManagerInfo::View> before = info_.convert(*seen, version);
      const std::optional<ManagerInfo::View> after = info_.convert(owned, version);
      if (!before || !after) continue;
      const meta::Object added = AddBack(*before->node, before->object.Root(), after->object.Root(), set);
      std::optional<ManagerInfo::View> again = info_.convert(added, last.api_version);
      if (again) owned = std::move(again->object);
    }
    const FieldSet all_set = ToFieldSet(*node, all, arena_).WithNamedFields(node);
    const FieldSet owned_set = ToFieldSet(*node, owned.Root(), arena_).WithNamedFields(node);
    meta::Object out(RemoveItems(*node, all, all_set.Difference(owned_set).Intersection(last_set)));
    if (!view) return out;
    std::optional<ManagerInfo::View> back = info_.convert(out, info_.api_version);
    if (!back) return PlainError("failed to prune fields: the version of the request is gone");
    return std::move(back->object);
  }

  /// Removes from `conflicts` the fields that the last-applied annotation contains and that the object still has.
  void RemoveAllowed(const meta::Object& live, Conflicts& conflicts) {
    const json::string* text = live.Annotation(kLastApplied);
    if (!text || text->empty()) return;
    json::error_code error;
    last_applied_ = json::parse(*text, error);
    if (error || !last_applied_.is_object()) return;
    const json::object& last = last_applied_.get_object();
    if (meta::FindString(last, "apiVersion") != info_.api_version || !ValidateTypes(node_, last, false).empty()) return;
    TypeErrors errors;
    const Changes changes = CompareTyped(node_, last, live.Root(), arena_, errors);
    const FieldSet allowed = ToFieldSet(node_, last, arena_)
                                 .Difference(changes.modified)
                                 .Difference(changes.added)
                                 .Difference(changes.removed);
    std::erase_if(conflicts, [&](const auto& conflict) { return allowed.Has(conflict.path); });
  }

  Result<meta::Object> Finish(const meta::Object& live, meta::Object merged, const meta::Object& applied) {
    const bool changed = !SameObject(live.Root(), merged.Root());
    if (Owner* self = owners_.Find(self_)) {
      self->set.Subtract(UnownedFields());
      self->wire = nullptr;
      if (changed) self->time = meta::FormatTime(info_.now);
    }
    owners_.RemoveEmpty();
    json::array encoded = owners_.Encode(merged.Root().storage(), node_.custom);
    if (info_.manager == "kubectl") UpdateLastApplied(merged, applied);
    if (encoded.empty()) {
      merged.EraseMeta("managedFields");
    } else {
      merged.Metadata()["managedFields"] = std::move(encoded);
    }
    return merged;
  }

  /// Updates the last-applied annotation of an object that has one, so that client-side apply can still be used.
  static void UpdateLastApplied(meta::Object& object, const meta::Object& applied) {
    const json::string* current = object.Annotation(kLastApplied);
    if (!current || current->empty()) return;
    json::value config = WithSortedKeys(applied.Root());
    if (json::value* annotations = meta::Find(config.get_object(), "metadata", "annotations")) {
      if (annotations->is_object()) {
        meta::EraseField(annotations->get_object(), kLastApplied);
        if (annotations->get_object().empty())
          meta::EraseField(meta::MakeObject(config.get_object(), "metadata"), "annotations");
      }
    }
    json::object& annotations = meta::MakeObject(object.Metadata(), "annotations");
    annotations[kLastApplied] = json::serialize(config) + "\n";
    const json::value check(annotations);
    if (!meta::ValidateAnnotations(&check, meta::Path()).empty()) meta::EraseField(annotations, kLastApplied);
  }

  const schema::Node& node_;
  const ManagerInfo& info_;
  TextArena arena_;
  OwnershipChange change_;
  Owners owners_;
  Owner self_;
  json::value last_applied_;  // field sets refer to strings in it
};

}  // namespace

Result<meta::Object> Apply(const meta::Object& live, const meta::Object& applied, const schema::Node& node,
                           const ManagerInfo& manager, bool force, const ResetFields& reset) {
  const meta::Gvk gvk = applied.GetGvk();
  const bool same_kind = live.Kind().empty() || live.Kind() == applied.Kind();
  if (gvk.ApiVersion() != manager.api_version || !same_kind) {
    return meta::BadRequest(fmt::format("invalid object type: {}", gvk.ToString()));
  }
  return Application(node, manager, reset).Run(live, applied, force);
}

}  // namespace apimesh::patch
