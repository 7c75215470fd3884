#include "lib/patch/patch.h"

#include <fmt/format.h>

#include "lib/endpoint/input/body_values.h"
#include "lib/endpoint/input/decode.h"
#include "lib/endpoint/output/go_format.h"
#include "lib/endpoint/verbs/verbs.h"
#include "lib/endpoint/write/update_pipeline.h"
#include "lib/endpoint/write/write.h"
#include "lib/meta/equal.h"
#include "lib/patch/apply/managed_fields.h"
#include "lib/registry/object_meta.h"
#include "lib/registry/scale.h"

namespace apimesh::endpoint {
namespace {

namespace json = meta::json;

enum class PatchType { kJson, kMerge, kStrategic, kApply };

std::optional<PatchType> TypeOf(std::string_view type) {
  type = type.substr(0, type.find(';'));
  if (type == "application/json-patch+json") return PatchType::kJson;
  if (type == "application/merge-patch+json") return PatchType::kMerge;
  if (type == "application/strategic-merge-patch+json") return PatchType::kStrategic;
  if (type == "application/apply-patch+yaml") return PatchType::kApply;
  return std::nullopt;
}

meta::Result<PatchType> TypeOf(const ResourceRequest& request) {
  const std::optional<PatchType> type = TypeOf(request.http.Header("content-type"));
  if (type && (*type != PatchType::kStrategic || !request.served->custom)) return *type;
  return meta::UnsupportedMediaType(
      "the body of the request was in an unknown format - accepted media types include: "
      "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml");
}

/// A parsed patch, which is used for every attempt.
struct PatchInput {
  RequestPtr request;
  WriteOptions options;
  PatchType type = PatchType::kJson;
  json::value body;
  std::vector<std::string> complaints;
  std::string yaml_duplicates;  // the message about duplicate keys of an applied configuration

  /// Moves a value here together with its arena. An assignment would copy it into the storage of `body`.
  void TakeBody(json::value&& value) {
    std::destroy_at(&body);
    std::construct_at(&body, std::move(value));
  }
};
using InputPtr = std::shared_ptr<const PatchInput>;

std::string_view GoKind(const json::value& value) {
  return value.is_array()    ? "array"
         : value.is_string() ? "string"
         : value.is_bool()   ? "bool"
         : value.is_number() ? "number"
                             : "object";
}

/// Reports the fields that no operation of a JSON patch has.
void ReportUnknownFields(const json::value& operations, codec::Strictness& strict) {
  if (!operations.is_array()) return;
  for (std::size_t i = 0; i < operations.get_array().size(); ++i) {
    const json::value& operation = operations.get_array()[i];
    if (!operation.is_object()) continue;
    for (const auto& [name, value] : operation.get_object()) {
      if (name == "op" || name == "path" || name == "from" || name == "value") continue;
      if (!strict.WantsMore()) return;
      strict.path_bytes += name.size();
      strict.complaints.push_back(fmt::format("unknown field \"[{}].{}\"", i, std::string_view(name)));
    }
  }
}

meta::Result<> ParsePatch(PatchInput& input) {
  const std::string& text = input.request->http.body;
  codec::Strictness strict;
  codec::Strictness* const collect = input.options.field_validation == FieldValidation::kIgnore ? nullptr : &strict;
  if (input.type != PatchType::kApply || text.starts_with('{')) RETURN_IF_ERROR(CheckBodyValues(text));
  if (input.type == PatchType::kApply) {
    // Duplicate keys are reported after the patch is applied: see ApplyToObject().
    meta::Result<json::value> body =
        collect ? codec::ParseYamlWithDuplicates(text, meta::NewArena(), input.yaml_duplicates, BodyLimits())
                : codec::ParseYaml(text, meta::NewArena(), nullptr, BodyLimits());
    if (!body && body.error().Code() != 400) return body.error();
    if (!body)
      return meta::BadRequest(
          fmt::format("error decoding YAML: error converting YAML to JSON: {}", body.error().Message()));
    if (body->is_null()) body = json::value(json::object());
    if (!body->is_object()) {
      return meta::BadRequest(
          fmt::format("error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {} "
                      "into Go value of type map[string]interface {{}}",
                      GoKind(*body)));
    }
    input.TakeBody(std::move(*body));
  } else {
    meta::Result<json::value> body = codec::ParseJson(text, meta::NewArena(), collect);
    if (!body) {
      return meta::BadRequest(input.type == PatchType::kStrategic
                                  ? body.error().Message()
                                  : fmt::format("error decoding patch: {}", body.error().Message()));
    }
    input.TakeBody(std::move(*body));
    if (input.type == PatchType::kJson && collect) ReportUnknownFields(input.body, strict);
    if (input.type != PatchType::kJson && !input.body.is_object()) {
      if (input.body.is_null() && input.type == PatchType::kMerge) return meta::BadRequest("Invalid JSON Patch");
      return meta::BadRequest(fmt::format("{}json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
                                          input.type == PatchType::kMerge ? "error decoding patch: " : "",
                                          GoKind(input.body)));
    }
  }
  for (std::string& complaint : strict.complaints) {
    input.complaints.push_back(input.type == PatchType::kJson ? "json patch " + complaint : std::move(complaint));
  }
  return {};
}

/// Returns the patched document, which has not been validated yet.
meta::Result<json::object> ApplyTo(const PatchInput& input, const meta::Object& current) {
  json::value document(current.Root(), meta::NewArena());
  switch (input.type) {
    case PatchType::kJson: RETURN_IF_ERROR(patch::ApplyJsonPatch(document, input.body)); break;
    case PatchType::kMerge: patch::ApplyMergePatch(document, input.body); break;
    default:
      RETURN_IF_ERROR(
          patch::ApplyStrategicMergePatch(document.get_object(), input.body.get_object(), input.request->BodySchema()));
  }
  if (!document.is_object()) return meta::BadRequest("the patched document is not an object");
  return std::move(document.get_object());
}

meta::Result<meta::Object> PatchDocument(const PatchInput& input, const meta::Object& current) {
  ASSIGN_OR_RETURN(json::object document, ApplyTo(input, current));
  // Only an error message shows the patched document, so it is computed again for that.
  const auto shown = [&input, &current] {
    return input.type == PatchType::kStrategic ? meta::Quoted(GoFormat(input.body))
                                               : meta::Quoted(codec::WriteJson(*ApplyTo(input, current)));
  };
  return DecodePatched(*input.request, std::move(document), input.complaints, input.options.field_validation, shown,
                       input.type != PatchType::kStrategic);
}

/// Applies the configuration `body` to the object itself, also if the subresource represents it as another kind.
meta::Result<meta::Object> ApplyToObject(const PatchInput& input, const json::object& body,
                                         const meta::Object* current) {
  const ResourceRequest& request = *input.request;
  const patch::ManagerInfo manager = ManagerOf(request, input.options.field_manager);
  meta::Object live = current ? *current : meta::Object(json::object(meta::NewArena()));
  if (!current) live.SetGvk(request.Resource().gvk);
  const meta::Object applied(json::object(body, meta::NewArena()));
  ASSIGN_OR_RETURN(meta::Object merged, patch::Apply(live, applied, *request.Resource().schema, manager,
                                                     input.options.force, ResetFieldsOf(request)));
  if (const std::string& duplicates = input.yaml_duplicates; !duplicates.empty()) {
    if (input.options.field_validation == FieldValidation::kStrict) {
      return meta::BadRequest(fmt::format("error strict decoding YAML: error converting YAML to JSON: {}", duplicates));
    }
    WarnOf(request, duplicates);
  }
  return merged;
}

bool DiffersInManagedFieldsOnly(meta::Object one, meta::Object other) {
  one.EraseMeta("managedFields");
  other.EraseMeta("managedFields");
  return meta::Equal(one.Root(), other.Root());
}

meta::Result<meta::Object> ApplyDocument(const PatchInput& input, const meta::Object* current) {
  ASSIGN_OR_RETURN(meta::Object merged, ApplyToObject(input, input.body.get_object(), current));
  RETURN_IF_ERROR(input.request->CheckWanted());  // the merge of 100,000 fields takes long
  // As in kube-apiserver, an apply that changes nothing does not add defaults. An object lacks defaults of its version
  // if a webhook has converted it.
  if (current && input.request->views && DiffersInManagedFieldsOnly(merged, *current)) {
    RETURN_IF_ERROR(codec::Normalise(merged.Root(), *input.request->Resource().schema, nullptr));
    return merged;
  }
  return DecodePatched(
      *input.request, std::move(merged.Root()), {}, FieldValidation::kIgnore, [] { return std::string(); }, false);
}

meta::Result<> CheckScaleKind(const ResourceRequest& request, const json::object& body) {
  const std::string_view version = meta::FindString(body, "apiVersion"), kind = meta::FindString(body, "kind");
  if (version == request.BodyKind().ApiVersion() && kind == request.BodyKind().kind) return {};
  const meta::GroupVersion named = meta::GroupVersion::Parse(version);
  return meta::BadRequest(fmt::format("invalid object type: {}/{}, Kind={}", named.group, named.version, kind));
}

/// Applies a Scale. The manager owns one field of the scaled object.
meta::Result<meta::Object> ApplyScaleDocument(const PatchInput& input, const meta::Object& current) {
  const ResourceRequest& request = *input.request;
  const registry::ScalePaths& paths = *request.subresource->scale;
  RETURN_IF_ERROR(CheckScaleKind(request, input.body.get_object()));
  json::object document;
  document["apiVersion"] = request.Resource().gvk.ApiVersion();
  document["kind"] = request.Resource().gvk.kind;
  document["metadata"] = json::object{{"name", request.Name()}};
  meta::Object applied(std::move(document));
  RETURN_IF_ERROR(registry::ApplyScale(meta::Object(input.body.get_object()), applied, paths));
  ASSIGN_OR_RETURN(meta::Object merged, ApplyToObject(input, applied.Root(), &current));
  RETURN_IF_ERROR(codec::Normalise(merged.Root(), *request.Resource().schema, nullptr));
  ForgetScaleTimes(merged);
  return merged;
}

/// Patches the Scale of an object and applies the result to the object.
meta::Result<meta::Object> PatchScale(const PatchInput& input, const meta::Object& current) {
  const registry::ScalePaths& paths = *input.request->subresource->scale;
  meta::Object before = registry::ScaleOf(current, paths);
  if (!registry::HasReplicas(current, paths))
    meta::MakeObject(before.Root(), "spec")["replicas"] = registry::kMissingReplicas;
  ASSIGN_OR_RETURN(const meta::Object scale, PatchDocument(input, before));
  meta::Object object = current;
  RETURN_IF_ERROR(registry::ApplyScale(scale, object, paths));
  object.SetMeta("resourceVersion", scale.ResourceVersion());
  return object;
}

meta::Result<meta::Object> PatchedObject(const PatchInput& input, const meta::Object* current) {
  const ResourceRequest& request = *input.request;
  if (!current && input.type != PatchType::kApply) return meta::NotFound(request.GetGroupResource(), request.Name());
  meta::Result<meta::Object> patched = [&] {
    if (request.subresource && request.subresource->scale && current) {
      return input.type == PatchType::kApply ? ApplyScaleDocument(input, *current) : PatchScale(input, *current);
    }
    return input.type == PatchType::kApply ? ApplyDocument(input, current) : PatchDocument(input, *current);
  }();
  if (!patched) return patched;
  if (!current && !patched->Uid().empty()) {
    return meta::Conflict(
        request.GetGroupResource(), request.Name(),
        fmt::format("uid mismatch: the provided object specified uid {}, and no existing object was found",
                    patched->Uid()));
  }
  RETURN_IF_ERROR(registry::MatchNamespace(*patched, request.ObjectNamespace()));
  RETURN_IF_ERROR(CheckName(request, *patched));
  if (!current) registry::ClearSystemMeta(*patched);
  return patched;
}

}  // namespace

bool IsPatchType(std::string_view content_type) { return TypeOf(content_type).has_value(); }

Task<Answer> Patch(RequestPtr request) {
  const auto patch = std::make_shared<PatchInput>();
  patch->request = request;
  ASSIGN_OR_CO_RETURN(patch->type, TypeOf(*request));
  const WriteKind kind = patch->type == PatchType::kApply ? WriteKind::kApply : WriteKind::kPatch;
  ASSIGN_OR_CO_RETURN(patch->options, ParseWriteOptions(request->query, kind));
  CO_RETURN_IF_ERROR(ParsePatch(*patch));

  UpdateInput input;
  input.options = patch->options;
  input.tracks_fields = patch->type != PatchType::kApply;
  input.create_allowed = patch->type == PatchType::kApply && !request->subresource;
  input.desired = [patch](const meta::Object* current) { return PatchedObject(*patch, current); };
  co_return co_await RunUpdate(request, std::move(input));
}

}  // namespace apimesh::endpoint
