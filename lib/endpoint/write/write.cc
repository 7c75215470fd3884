#include "lib/endpoint/write/write.h"

#include <fmt/format.h>

#include "lib/codec/codec.h"
#include "lib/endpoint/write/converted_views.h"
#include "lib/mesh/deleted_namespace_header.h"
#include "lib/patch/apply/managed_fields.h"
#include "lib/registry/object_meta.h"
#include "lib/registry/scale.h"

namespace apimesh::endpoint {

namespace json = meta::json;

admission::Attributes AttributesOf(const ResourceRequest& request, admission::Operation operation, meta::Object* object,
                                   const meta::Object* old, const json::object* options, bool dry_run) {
  admission::Attributes attributes;
  attributes.operation = operation;
  attributes.kind = request.BodyKind();
  attributes.resource = request.Resource().GetGvr();
  attributes.subresource = request.Info().subresource;
  attributes.ns = request.ObjectNamespace();
  attributes.name = request.Name();
  if (attributes.name.empty() && object) attributes.name = object->Name();
  if (request.Resource().namespace_is_name) attributes.ns = attributes.name;
  attributes.object = object;
  attributes.old_object = old;
  attributes.options = options;
  attributes.dry_run = dry_run;
  attributes.namespace_deleted = !request.http.Header(mesh::kDeletedNamespaceHeader).empty();
  attributes.versions = request.versions.get();
  return attributes;
}

void DropDuplicateOwners(const ResourceRequest& request, meta::Object& object, bool after_admission) {
  const std::vector<std::string> removed = registry::RemoveDuplicateOwners(object);
  if (removed.empty()) return;
  request.ctx.Warn(fmt::format(
      ".metadata.ownerReferences contains duplicate entries{}; API server dedups owner references in 1.20+, "
      "and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}",
      after_admission ? " after mutating admission happens" : "", fmt::join(removed, ", ")));
}

namespace {

json::value* FieldsOf(json::value& entry) {
  return entry.is_object() ? meta::FindField(entry.get_object(), "fieldsV1") : nullptr;
}

/// Removes the path from fieldsV1. Returns whether it was there.
bool RemoveField(json::object& fields, std::string_view path) {
  const std::size_t dot = path.find('.');
  const std::string name = fmt::format("f:{}", path.substr(0, dot));
  if (dot == std::string_view::npos) return meta::EraseField(fields, name);
  json::value* child = meta::FindField(fields, name);
  if (!child || !child->is_object() || !RemoveField(child->get_object(), path.substr(dot + 1))) return false;
  if (child->get_object().empty()) meta::EraseField(fields, name);
  return true;
}

/// Removes the ownership of the path from all entries, and entries without other fields. Returns whether there was one.
bool RemoveOwners(meta::Object& object, std::string_view path) {
  json::value* managed = meta::FindField(object.Metadata(), "managedFields");
  if (!managed || !managed->is_array()) return false;
  json::array& entries = managed->get_array();
  bool found = false;
  for (std::size_t i = 0; i < entries.size();) {
    json::value* fields = FieldsOf(entries[i]);
    const bool removed = fields && fields->is_object() && RemoveField(fields->get_object(), path);
    found = found || removed;
    if (removed && fields->get_object().empty()) {
      entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  return found;
}

/// kube-apiserver tracks the managers of the Scale, which has no replicas if their number is 0, and which it does not
/// track if it has no manager.
void FollowScaleOwners(const meta::Object& live, meta::Object& object, const registry::ScalePaths& paths) {
  meta::Object before = live;
  const meta::Object scale = registry::ScaleOf(object, paths);
  const bool has_replicas = meta::Find(scale.Root(), "spec", "replicas") != nullptr;
  if (!has_replicas || !RemoveOwners(before, paths.spec_replicas)) RemoveOwners(object, paths.spec_replicas);
}

}  // namespace

void ForgetScaleTimes(meta::Object& object) {
  json::value* fields = meta::FindField(object.Metadata(), "managedFields");
  if (!fields || !fields->is_array()) return;
  json::array& entries = fields->get_array();
  for (json::value& entry : entries) {
    if (entry.is_object() && meta::FindString(entry.get_object(), "subresource") == "scale")
      meta::EraseField(entry.get_object(), "time");
  }
  const auto rank = [](const json::value& entry) {
    const json::object& object = entry.get_object();
    return std::pair(meta::FindString(object, "operation") == "Apply" ? 0 : 1, object.contains("time"));
  };
  std::stable_sort(entries.begin(), entries.end(),
                   [&](const json::value& a, const json::value& b) { return rank(a) < rank(b); });
}

patch::ManagerInfo ManagerOf(const ResourceRequest& request, std::string name) {
  patch::ManagerInfo manager{.manager = std::move(name),
                             .api_version = request.Resource().gvk.ApiVersion(),
                             .subresource = request.Info().subresource,
                             .now = request.env->sources.clock->Now(),
                             .convert = request.Resource().convert};
  if (request.views) {
    manager.convert = [views = request.views](const meta::Object& object, std::string_view api_version) {
      return views->Find(object, api_version);
    };
  }
  return manager;
}

const patch::ResetFields& ResetFieldsOf(const ResourceRequest& request) {
  return request.subresource ? request.subresource->reset_fields : request.Resource().reset_fields;
}

void TrackFields(const ResourceRequest& request, const WriteOptions& options, const meta::Object* live,
                 meta::Object& object) {
  const patch::ManagerInfo manager =
      ManagerOf(request, ManagerName(options.field_manager, request.http.Header("user-agent")));
  (void)patch::UpdateManagedFields(live, object, *request.Resource().schema, manager, ResetFieldsOf(request));
  if (!request.subresource || !request.subresource->scale) return;
  if (live) FollowScaleOwners(*live, object, *request.subresource->scale);
  ForgetScaleTimes(object);
}

meta::Result<> CheckName(const ResourceRequest& request, const meta::Object& object) {
  if (object.Name().empty()) {
    return meta::BadRequest(fmt::format(
        "the name of the object ({} based on URL) was undeterminable: name must be provided", request.Name()));
  }
  if (object.Name() != request.Name()) {
    return meta::BadRequest(fmt::format("the name of the object ({}) does not match the name on the URL ({})",
                                        object.Name(), request.Name()));
  }
  const std::string_view ns = request.ObjectNamespace();
  if (!ns.empty() && !object.Namespace().empty() && object.Namespace() != ns) {
    return meta::BadRequest(fmt::format(
        "the namespace of the object ({}) does not match the namespace on the request ({})", object.Namespace(), ns));
  }
  return {};
}

meta::Result<meta::Object> ParseEntry(const storage::Entry& entry) {
  ASSIGN_OR_RETURN(json::value value, codec::ParseJson(entry.JsonText(), meta::NewArena()));
  return meta::Object(std::move(value.get_object()));
}

}  // namespace apimesh::endpoint
