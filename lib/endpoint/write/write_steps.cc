#include "lib/endpoint/write/write_steps.h"

#include <fmt/format.h>

#include "lib/endpoint/input/decode.h"
#include "lib/endpoint/input/while_wanted.h"
#include "lib/endpoint/write/write.h"
#include "lib/patch/apply/managed_fields.h"
#include "lib/registry/scale.h"

namespace apimesh::endpoint {
namespace {

/// The object that admission receives: the written object, or its Scale if the subresource represents it as one.
class AdmissionView {
 public:
  explicit AdmissionView(Write& write)
      : paths_(write.request->subresource && write.request->subresource->scale ? &*write.request->subresource->scale
                                                                               : nullptr),
        write_(write),
        options_(write.options->document) {
    if (!write.old) options_["kind"] = "CreateOptions";  // also for an update that creates the object
    if (!paths_) return;
    scale_ = registry::ScaleOf(write.object, *paths_);
    if (write.old) old_scale_ = registry::ScaleOf(*write.old, *paths_);
  }
  admission::Attributes Attributes() {
    meta::Object* const object = paths_ ? &scale_ : &write_.object;
    const meta::Object* const old = paths_ && write_.old ? &old_scale_ : write_.old;
    return AttributesOf(*write_.request, write_.Operation(), object, old, &options_, write_.options->dry_run);
  }
  /// Applies the changes of plugins to the object.
  meta::Result<> Apply() { return paths_ ? registry::ApplyScale(scale_, write_.object, *paths_) : meta::Result<>(); }

 private:
  const registry::ScalePaths* const paths_;
  Write& write_;
  meta::json::object options_;
  meta::Object scale_, old_scale_;
};

/// Admission must not move an object to another namespace: it is authorized and stored by the namespace of the request.
/// `before` is its namespace before admission.
meta::Result<> KeepNamespace(Write& write, std::string_view before) {
  const std::string_view requested = write.request->ObjectNamespace(), found = write.object.Namespace();
  if (found == before || found == requested) return {};
  if (requested.empty()) {
    write.object.EraseMeta("namespace");
  } else if (found.empty()) {
    write.object.SetMeta("namespace", requested);
  } else {
    return meta::BadRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  return {};
}

/// Admission must not leave managedFields that can't be read: the next write would drop all owners.
void KeepReadableManagedFields(Write& write, const admission::Attributes& attributes) {
  if (!attributes.replaced_managed_fields || attributes.object != &write.object) return;
  const std::string error = patch::CheckManagedFields(write.object);
  if (error.empty()) return;
  if (attributes.replaced_managed_fields->is_null()) {
    write.object.EraseMeta("managedFields");
  } else {
    write.object.Metadata()["managedFields"] = *attributes.replaced_managed_fields;
  }
  write.request->ctx.Warn(fmt::format(
      ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating "
      "admission controller; please fix your requests: {}",
      error));
}

}  // namespace

Task<meta::Result<>> RunSteps(std::span<const WriteStep> steps, Write& write) {
  for (const WriteStep& step : steps) {
    CO_RETURN_IF_ERROR(write.request->CheckWanted());
    if (step.run) {
      const WhileWanted wanted(*write.request);  // the check before the next step discards an incomplete result
      CO_RETURN_IF_ERROR(step.run(write));
    } else {
      CO_RETURN_IF_ERROR(co_await step.wait(write));
    }
  }
  co_return write.request->CheckWanted();
}

meta::Result<> TrackManagedFields(Write& write) {
  if (write.tracks_fields) TrackFields(*write.request, *write.options, write.old, write.object);
  return {};
}

Task<meta::Result<>> MutatingAdmission(Write& write) {
  AdmissionView view(write);
  admission::Attributes attributes = view.Attributes();
  const std::string ns(write.object.Namespace());
  CO_RETURN_IF_ERROR(co_await write.request->served->admission->Mutate(write.request->ctx, attributes));
  CO_RETURN_IF_ERROR(view.Apply());
  CO_RETURN_IF_ERROR(KeepNamespace(write, ns));
  KeepReadableManagedFields(write, attributes);
  DropDuplicateOwners(*write.request, write.object, true);
  co_return meta::Result<>();
}

Task<meta::Result<>> CheckContent(Write& write) {
  const registry::Subresource* const subresource = write.request->subresource;
  WriteChecks* const checks = subresource ? subresource->checks.get() : write.request->Resource().checks.get();
  if (!checks) co_return meta::Result<>();
  if (!write.old) co_return co_await checks->CheckCreate(write.request->ctx, write.object);
  co_return co_await checks->CheckUpdate(write.request->ctx, write.object, *write.old);
}

Task<meta::Result<>> TakeResources(Write& write) { return write.held->Take(write.object, write.old); }

Task<meta::Result<>> ValidatingAdmission(Write& write) {
  AdmissionView view(write);
  const admission::Attributes attributes = view.Attributes();
  co_return co_await write.request->served->admission->Validate(write.request->ctx, attributes);
}

meta::Result<> Normalise(Write& write) { return NormaliseForStore(*write.request, write.object); }

}  // namespace apimesh::endpoint
