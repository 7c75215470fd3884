#include "lib/admission/plugins/limit_ranger/limit_ranger.h"

#include <mutex>
#include <unordered_map>

#include <fmt/format.h>

#include "lib/admission/fields.h"
#include "lib/admission/plugins/limit_ranger/limits.h"

namespace apimesh::admission {
namespace {

constexpr auto kNewestReadInterval = std::chrono::seconds(30);
constexpr std::size_t kMaxNamespaces = 10'000;

bool IsClaim(const Attributes& attributes) { return IsResource(attributes, "", "persistentvolumeclaims"); }

/// Containers of pods can only be changed through the subresource "resize".
bool IsLimitedPodWrite(const Attributes& attributes) {
  if (!IsResource(attributes, "", "pods")) return false;
  if (attributes.operation == Operation::kCreate) return attributes.subresource.empty();
  return attributes.operation == Operation::kUpdate && attributes.subresource == "resize";
}

class LimitRanger final : public Plugin {
 public:
  LimitRanger(ObjectsPtr objects, const Clock& clock) : objects_(std::move(objects)), clock_(clock) {}

  bool Handles(Phase phase, const Attributes& attributes) const override {
    const bool claim = phase == Phase::kValidate && IsClaim(attributes) && attributes.subresource.empty() &&
                       (attributes.operation == Operation::kCreate || attributes.operation == Operation::kUpdate);
    if (!claim && !IsLimitedPodWrite(attributes)) return false;
    return !attributes.old_object || attributes.old_object->DeletionTimestamp().empty();
  }

  Task<meta::Result<>> Mutate(meta::RequestContext ctx, Attributes& attributes) override {
    ASSIGN_OR_CO_RETURN(const std::vector<ObjectPtr> ranges, co_await Ranges(ctx, attributes));
    for (const ObjectPtr& range : ranges) limit_ranger::SetDefaults(*range, *attributes.object);
    co_return meta::Result<>();
  }

  Task<meta::Result<>> Validate(meta::RequestContext ctx, const Attributes& attributes) override {
    ASSIGN_OR_CO_RETURN(const std::vector<ObjectPtr> ranges, co_await Ranges(ctx, attributes));
    for (const ObjectPtr& range : ranges) {
      const std::vector<std::string> errors = IsClaim(attributes) ? limit_ranger::CheckClaim(*range, *attributes.object)
                                                                  : limit_ranger::CheckPod(*range, *attributes.object);
      if (!errors.empty()) co_return Forbidden(attributes, JoinErrors(errors));
    }
    co_return meta::Result<>();
  }

 private:
  Task<meta::Result<std::vector<ObjectPtr>>> Ranges(meta::RequestContext ctx, const Attributes& attributes) {
    const meta::Gvr resource{"", "v1", "limitranges"};
    if (!objects_) co_return Refusal(attributes);
    meta::LabelSelector all;
    meta::Result<std::vector<ObjectPtr>> ranges =
        co_await objects_->List(ctx, resource, attributes.ns, all, Read::kCached);
    if (ranges && ranges->empty() && ReadsNewest(attributes.ns))
      ranges = co_await objects_->List(ctx, resource, attributes.ns, all, Read::kNewest);
    if (!ranges) co_return Refusal(attributes);
    co_return ranges;
  }

  static meta::ApiError Refusal(const Attributes& attributes) {
    return Forbidden(attributes,
                     fmt::format("unable to {} {}/{}, Resource={} at this time because there was an error enforcing "
                                 "limit ranges",
                                 ToString(attributes.operation), attributes.resource.group, attributes.resource.version,
                                 attributes.resource.resource));
  }

  /// Returns true if the store should be asked whether a namespace without cached limit ranges has one that was just
  /// created. This costs a read of the store, so it is done only now and then for each namespace.
  bool ReadsNewest(const std::string& ns) {
    const SteadyTime now = clock_.Steady();
    const std::lock_guard lock(mutex_);
    if (next_read_.size() >= kMaxNamespaces) next_read_.clear();
    SteadyTime& next = next_read_.try_emplace(ns, SteadyTime::min()).first->second;
    if (now < next) return false;
    next = now + kNewestReadInterval;
    return true;
  }

  const ObjectsPtr objects_;
  const Clock& clock_;
  std::mutex mutex_;
  std::unordered_map<std::string, SteadyTime> next_read_;  // by namespace; guarded by mutex_
};

}  // namespace

std::unique_ptr<Plugin> MakeLimitRanger(const PluginInputs& inputs) {
  return std::make_unique<LimitRanger>(inputs.objects, *inputs.clock);
}

}  // namespace apimesh::admission
