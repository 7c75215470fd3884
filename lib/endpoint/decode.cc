#include "lib/endpoint/decode.h"

#include <fmt/format.h>

#include "lib/schema/defaults.h"

namespace apimesh::endpoint {
namespace {

namespace json = meta::json;
using codec::Strictness;

constexpr std::string_view kScheme = "pkg/api/legacyscheme/scheme.go:30";
constexpr std::size_t kSummaryBytes = 30;

std::string Summary(std::string_view body) {
  if (body.empty()) return "<empty>";
  std::string shown;
  const std::string_view head = body.substr(0, kSummaryBytes);
  if (body.front() == '{') {
    shown = head;
  } else {
    for (const unsigned char c : head) shown += fmt::format("{:02x}", c);
  }
  return body.size() > kSummaryBytes ? shown + " ..." : shown;
}

meta::ApiError CannotHandle(const meta::Gvk& found, const meta::Gvk& wanted, std::string_view why) {
  return meta::BadRequest(fmt::format("{} in version {} cannot be handled as a {}: {}", found.kind, meta::Quoted(found.version),
                                      wanted.kind, why));
}

meta::ApiError Unrecognized(const meta::Gvk& wanted, std::string_view why, std::string_view body) {
  return meta::BadRequest(
      fmt::format("the object provided is unrecognized (must be of type {}): {} ({})", wanted.kind, why, Summary(body)));
}

std::string Join(const std::vector<std::string>& complaints) {
  return fmt::format("strict decoding error: {}", fmt::join(complaints, ", "));
}

meta::Result<json::value> Parse(codec::Format format, std::string_view body, Strictness* strict) {
  json::storage_ptr arena = meta::NewArena();
  return format == codec::Format::kYaml ? codec::ParseYaml(body, arena, strict) : codec::ParseJson(body, arena, strict);
}

/// The type of a document, filled in from `wanted` where it says nothing.
meta::Gvk TypeOf(const json::object& document, const meta::Gvk& wanted) {
  meta::Object view;
  meta::Gvk found = wanted;
  const std::string_view kind = meta::FindString(document, "kind");
  const std::string_view api_version = meta::FindString(document, "apiVersion");
  if (!kind.empty()) found.kind = kind;
  if (!api_version.empty()) {
    const meta::GroupVersion gv = meta::GroupVersion::Parse(api_version);
    found.group = gv.group;
    found.version = gv.version;
  }
  return found;
}

meta::Result<> CheckType(const ResourceRequest& request, const meta::Gvk& found, const meta::Gvk& wanted) {
  if (found == wanted) return {};
  if (request.served->custom) {
    if (found.Version() != wanted.Version()) {
      return meta::BadRequest(fmt::format("the API version in the data ({}) does not match the expected API version ({})",
                                          found.ApiVersion(), wanted.ApiVersion()));
    }
    return meta::BadRequest(fmt::format("{} in version {} cannot be handled as a {}: converting ({}) to ({}): unknown conversion",
                                        found.kind, meta::Quoted(found.version), wanted.kind, found.kind, wanted.kind));
  }
  const bool known = request.env->knows_kind && request.env->knows_kind(found);
  if (!known) {
    return CannotHandle(found, wanted, fmt::format("no kind {} is registered for version {} in scheme {}", meta::Quoted(found.kind),
                                                   meta::Quoted(found.ApiVersion()), meta::Quoted(kScheme)));
  }
  if (found.GroupKind() == wanted.GroupKind()) {
    return meta::BadRequest(fmt::format("the API version in the data ({}) does not match the expected API version ({})",
                                        found.ApiVersion(), wanted.ApiVersion()));
  }
  const std::string_view package = wanted.group.empty() ? std::string_view("core") : std::string_view(wanted.group).substr(0, wanted.group.find('.'));
  return CannotHandle(found, wanted, fmt::format("converting ({}.{}) to ({}.{}): unknown conversion", found.version, found.kind,
                                                 package, wanted.kind));
}

/// Duplicate and unknown fields: a 400, warnings, or nothing.
meta::Result<> Report(const ResourceRequest& request, const meta::Gvk& kind, const std::vector<std::string>& complaints,
                      FieldValidation validation) {
  if (complaints.empty() || validation == FieldValidation::kIgnore) return {};
  if (validation == FieldValidation::kStrict) return CannotHandle(kind, kind, Join(complaints));
  for (const std::string& complaint : complaints) request.ctx.Warn(complaint);
  return {};
}

void Default(const ResourceRequest& request, json::object& document) {
  schema::ApplyDefaults(document, request.BodySchema());
  request.Strategy().Default(document);
}

meta::Result<meta::Object> DecodeProtobuf(const ResourceRequest& request) {
  const meta::Gvk& wanted = request.BodyKind();
  const meta::Result<meta::Gvk> found = codec::PeekProtobuf(request.http.body);
  if (!found) return Unrecognized(wanted, found.error().Message(), request.http.body);
  if (!found->kind.empty()) {
    RETURN_IF_ERROR(CheckType(request, *found, wanted));
  }
  meta::Result<meta::Object> object = codec::ReadProtobuf(request.http.body, request.BodySchema(), meta::NewArena());
  if (!object) return CannotHandle(wanted, wanted, object.error().Message());
  object->SetGvk(wanted);
  return object;
}

}  // namespace

meta::Result<meta::Object> DecodeBody(const ResourceRequest& request, FieldValidation validation) {
  ASSIGN_OR_RETURN(const codec::Format format, codec::NegotiateInput(request.http.Header("content-type"), request.Offer()));
  const meta::Gvk& wanted = request.BodyKind();
  if (format == codec::Format::kProtobuf) {
    ASSIGN_OR_RETURN(meta::Object object, DecodeProtobuf(request));
    RETURN_IF_ERROR(codec::Normalise(object.Root(), request.BodySchema(), nullptr));
    Default(request, object.Root());
    return object;
  }
  Strictness strict;
  Strictness* const collect = validation == FieldValidation::kIgnore ? nullptr : &strict;
  meta::Result<json::value> parsed = Parse(format, request.http.body, collect);
  if (!parsed) return Unrecognized(wanted, parsed.error().Message(), request.http.body);
  if (!parsed->is_object()) {
    return Unrecognized(wanted, "couldn't get version/kind; json parse error: json: cannot unmarshal value into Go value of type "
                                "struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }",
                        request.http.body);
  }
  json::object document = std::move(parsed->get_object());
  RETURN_IF_ERROR(CheckType(request, TypeOf(document, wanted), wanted));
  document["kind"] = wanted.kind;
  document["apiVersion"] = wanted.ApiVersion();
  if (const meta::Result<> normal = codec::Normalise(document, request.BodySchema(), collect); !normal) {
    return CannotHandle(wanted, wanted, normal.error().Message());
  }
  RETURN_IF_ERROR(Report(request, wanted, strict.complaints, validation));
  Default(request, document);
  return meta::Object(std::move(document));
}

meta::Result<meta::Object> DecodePatched(const ResourceRequest& request, json::object document, std::vector<std::string> complaints,
                                         FieldValidation validation, const std::string& shown) {
  const auto invalid = [&shown](std::string_view why) {
    return meta::Invalid(meta::GroupKind{}, "", {meta::Invalid("patch", shown, std::string(why))});
  };
  Strictness strict;
  const meta::Result<> normal =
      codec::Normalise(document, request.BodySchema(), validation == FieldValidation::kIgnore ? nullptr : &strict);
  if (!normal) return invalid(normal.error().Message());
  complaints.insert(complaints.end(), strict.complaints.begin(), strict.complaints.end());
  if (!complaints.empty() && validation == FieldValidation::kStrict) return invalid(Join(complaints));
  if (validation == FieldValidation::kWarn) {
    for (const std::string& complaint : complaints) request.ctx.Warn(complaint);
  }
  Default(request, document);
  return meta::Object(std::move(document));
}

meta::Result<> Settle(const ResourceRequest& request, meta::Object& object) {
  return codec::Normalise(object.Root(), *request.Resource().schema, nullptr);
}

meta::Result<json::object> DecodeDeleteOptions(const ResourceRequest& request) {
  ASSIGN_OR_RETURN(const codec::Format format, codec::NegotiateInput(request.http.Header("content-type"), {}));
  const schema::Node* node =
      request.env->meta_schema ? request.env->meta_schema->Find("io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions") : nullptr;
  if (format == codec::Format::kProtobuf && node) {
    meta::Result<meta::Object> object = codec::ReadProtobuf(request.http.body, *node, meta::NewArena());
    if (!object) return meta::BadRequest(object.error().Message());
    return std::move(object->Root());
  }
  meta::Result<json::value> parsed = Parse(format, request.http.body, nullptr);
  if (!parsed) return meta::BadRequest(parsed.error().Message());
  if (!parsed->is_object()) return meta::BadRequest("decoded object cannot be converted to DeleteOptions");
  json::object document = std::move(parsed->get_object());
  const std::string_view kind = meta::FindString(document, "kind");
  if (!kind.empty() && kind != "DeleteOptions") {
    return meta::BadRequest(fmt::format("no kind {} is registered for version {} in scheme \"pkg/runtime/scheme.go:110\"",
                                        meta::Quoted(kind), meta::Quoted(meta::FindString(document, "apiVersion"))));
  }
  if (node) RETURN_IF_ERROR(codec::Normalise(document, *node, nullptr));
  return document;
}

}  // namespace apimesh::endpoint
