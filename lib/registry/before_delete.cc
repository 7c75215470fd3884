#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "lib/meta/time.h"
#include "lib/registry/before_write.h"
#include "lib/registry/object_meta.h"

namespace apimesh::registry {
namespace {

namespace json = meta::json;
using std::chrono::seconds;

constexpr std::string_view kOrphan = "orphan";
constexpr std::string_view kForeground = "foregroundDeletion";

/// Returns the finalizer of the garbage collector that the options request. Without a request, returns the one that the
/// object already has, or the default of the kind. Returns "" for none.
std::string_view CollectorFinalizer(const Strategy& strategy, const std::vector<std::string>& finalizers,
                                    const DeleteOptions& options) {
  if (options.orphan_dependents) return *options.orphan_dependents ? kOrphan : std::string_view();
  if (options.propagation_policy) {
    if (*options.propagation_policy == "Orphan") return kOrphan;
    return *options.propagation_policy == "Foreground" ? kForeground : std::string_view();
  }
  for (const std::string& finalizer : finalizers) {
    if (finalizer == kOrphan) return kOrphan;
    if (finalizer == kForeground) return kForeground;
  }
  return strategy.OrphansByDefault() ? kOrphan : std::string_view();
}

/// Returns whether the set of finalizers has changed.
bool UpdateFinalizers(const Strategy& strategy, meta::Object& object, const DeleteOptions& options) {
  const std::vector<std::string> before = Finalizers(object);
  std::vector<std::string> after;
  for (const std::string& finalizer : before) {
    if (finalizer != kOrphan && finalizer != kForeground) after.push_back(finalizer);
  }
  const std::string_view wanted = CollectorFinalizer(strategy, before, options);
  if (!wanted.empty()) after.emplace_back(wanted);
  if (std::set<std::string>(before.begin(), before.end()) == std::set<std::string>(after.begin(), after.end()))
    return false;
  SetFinalizers(object, after);
  return true;
}

std::optional<std::int64_t> StoredGrace(const meta::Object& object) {
  const json::value* value = meta::FindField(object.Metadata(), "deletionGracePeriodSeconds");
  if (!value || !value->is_int64()) return std::nullopt;
  return value->get_int64() < 0 ? 1 : value->get_int64();
}

void BumpGeneration(meta::Object& object) {
  if (object.Generation() > 0) object.SetMeta("generation", object.Generation() + 1);
}

meta::Result<> CheckPreconditions(const Resource& resource, const meta::Object& object, const DeleteOptions& options) {
  const meta::GroupResource what{resource.gvk.group, resource.gvk.kind};
  if (options.uid && *options.uid != object.Uid()) {
    return meta::Conflict(
        what, object.Name(),
        fmt::format("the UID in the precondition ({}) does not match the UID in record ({}). The object "
                    "might have been deleted and then recreated",
                    *options.uid, object.Uid()));
  }
  if (options.resource_version && *options.resource_version != object.ResourceVersion()) {
    return meta::Conflict(
        what, object.Name(),
        fmt::format("the ResourceVersion in the precondition ({}) does not match the ResourceVersion in "
                    "record ({}). The object might have been modified",
                    *options.resource_version, object.ResourceVersion()));
  }
  return {};
}

struct Grace {
  bool graceful = false;
  bool pending = false;
  std::int64_t seconds = 0;
};

/// The grace period of an object that is already being deleted can only be shortened.
Grace Shorten(meta::Object& object, std::int64_t stored, std::optional<std::int64_t> asked, WallTime now) {
  if (!asked || *asked >= stored) return {.pending = true};
  const WallTime began = meta::ParseTime(object.DeletionTimestamp()).value_or(now) - seconds(stored);
  std::int64_t period = *asked;
  WallTime ends = began + seconds(period);
  if (ends < now) {
    ends = now;
    if (period != 0) period = 1;
  }
  object.SetMeta("deletionTimestamp", meta::FormatTime(ends));
  object.SetMeta("deletionGracePeriodSeconds", period);
  return {.graceful = true, .seconds = period};
}

Grace BeginGrace(const Strategy& strategy, meta::Object& object, const DeleteOptions& options, WallTime now) {
  std::optional<std::int64_t> asked = options.grace_period_seconds;
  if (asked && *asked < 0) asked = 1;
  if (!object.DeletionTimestamp().empty()) {
    const std::optional<std::int64_t> stored = StoredGrace(object);
    if (!stored || *stored == 0) return {};
    return Shorten(object, *stored, asked, now);
  }
  const std::optional<std::int64_t> period = strategy.GracePeriod(object, asked);
  if (!period) return {};
  object.SetMeta("deletionTimestamp", meta::FormatTime(now + seconds(*period)));
  object.SetMeta("deletionGracePeriodSeconds", *period);
  BumpGeneration(object);
  return {.graceful = true, .seconds = *period};
}

void MarkDeleting(meta::Object& object, WallTime now) {
  const std::optional<WallTime> existing = meta::ParseTime(object.DeletionTimestamp());
  if (!existing) BumpGeneration(object);
  if (!existing || *existing > now) object.SetMeta("deletionTimestamp", meta::FormatTime(now));
  object.SetMeta("deletionGracePeriodSeconds", std::int64_t{0});
}

}  // namespace

meta::Result<Deletion> BeforeDelete(const Resource& resource, const Strategy& strategy, meta::Object& object,
                                    const DeleteOptions& options, WallTime now) {
  RETURN_IF_ERROR(strategy.CheckDelete(object));
  RETURN_IF_ERROR(CheckPreconditions(resource, object, options));
  if (strategy.HoldsBackDeletion(object)) {
    if (!object.DeletionTimestamp().empty()) return Deletion::kPending;
    UpdateFinalizers(strategy, object, options);
    object.SetMeta("deletionTimestamp", meta::FormatTime(now));
    strategy.PrepareForDelete(object);
    return Deletion::kMark;
  }
  const Grace grace = BeginGrace(strategy, object, options, now);
  if (grace.pending) return Deletion::kPending;
  UpdateFinalizers(strategy, object, options);
  const bool held = !Finalizers(object).empty();
  if (!grace.graceful) {
    if (!held) return Deletion::kNow;
    MarkDeleting(object, now);
    return Deletion::kMark;
  }
  return held || grace.seconds > 0 ? Deletion::kMark : Deletion::kMarkThenDelete;
}

}  // namespace apimesh::registry
