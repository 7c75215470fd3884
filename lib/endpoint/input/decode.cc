#include "lib/endpoint/input/decode.h"

#include <fmt/format.h>

#include "lib/codec/conversion_error.h"
#include "lib/codec/stored_form.h"
#include "lib/endpoint/input/audit_record.h"
#include "lib/endpoint/input/body_values.h"
#include "lib/endpoint/input/typed_decode.h"
#include "lib/endpoint/input/while_wanted.h"
#include "lib/schema/defaults.h"

namespace apimesh::endpoint {
namespace {

namespace json = meta::json;
using codec::Strictness;

std::string Join(const std::vector<std::string>& complaints) {
  return fmt::format("strict decoding error: {}", fmt::join(complaints, ", "));
}

meta::Result<json::value> Parse(codec::Format format, std::string_view body, Strictness* strict) {
  json::storage_ptr arena = meta::NewArena();
  if (format == codec::Format::kYaml) return codec::ParseYaml(body, arena, strict, BodyLimits());
  RETURN_IF_ERROR(CheckBodyValues(body));
  return codec::ParseJson(body, arena, strict);
}

/// Sets defaults in a decoded document, unless the deadline has passed or the client has disconnected during decoding.
meta::Result<> Default(const ResourceRequest& request, json::object& document) {
  RETURN_IF_ERROR(request.CheckWanted());
  if (!schema::ApplyDefaults(document, request.BodySchema())) return codec::TooLargeToStore();
  request.Strategy().Default(document);
  return {};
}

/// Returns the error about a document that cannot be converted to the stored version; "" if it can.
std::string ConversionProblem(const ResourceRequest& request, const json::object& document) {
  const auto& check = request.Resource().conversion_error;
  const bool same_kind = !request.subresource || request.subresource->kind.kind.empty();
  return check && same_kind ? check(document) : std::string();
}

/// As in kube-apiserver, audit events have DeleteOptions with the name of its internal version.
void RecordDeleteOptions(const ResourceRequest& request, const json::object& options) {
  json::object shown{{"kind", "DeleteOptions"}, {"apiVersion", "meta.k8s.io/__internal"}};
  for (const auto& member : options) shown.emplace(member.key(), member.value());
  RecordForAudit(request, shown);
}

}  // namespace

void WarnOf(const ResourceRequest& request, std::string_view complaint) {
  constexpr std::string_view kYaml = "yaml: unmarshal errors:\n";
  if (!complaint.starts_with(kYaml)) {
    if (!complaint.empty()) request.ctx.Warn(std::string(complaint));
    return;
  }
  complaint.remove_prefix(kYaml.size());
  while (!complaint.empty()) {  // one warning per line
    const std::size_t end = std::min(complaint.find('\n'), complaint.size());
    const std::size_t begin = std::min(complaint.find_first_not_of(' '), end);
    request.ctx.Warn(std::string(complaint.substr(begin, end - begin)));
    complaint.remove_prefix(std::min(end + 1, complaint.size()));
  }
}

meta::Result<meta::Object> DecodeBody(const ResourceRequest& request, FieldValidation validation) {
  ASSIGN_OR_RETURN(const codec::Format format,
                   codec::NegotiateInput(request.http.Header("content-type"), request.Offer()));
  const DecodeTarget target{request.BodyKind(), &request.BodySchema(), request.env->knows_kind};
  Strictness strict;
  Strictness* const collect = validation == FieldValidation::kIgnore ? nullptr : &strict;
  if (format == codec::Format::kJson) RETURN_IF_ERROR(CheckBodyValues(request.http.body));
  const WhileWanted wanted(request);
  meta::Result<meta::Object> decoded =
      Decode(request.http.body, format, target, meta::NewArena(), collect, BodyLimits());
  RETURN_IF_ERROR(request.CheckWanted());  // the body may have been read in part only
  if (!decoded) return decoded.error();
  meta::Object& object = *decoded;
  if (const std::string why = ConversionProblem(request, object.Root()); !why.empty())
    return CannotBeHandled(object.GetGvk(), target.kind, why);
  if (validation == FieldValidation::kStrict && !strict.complaints.empty())
    return StrictDecodingError(object.GetGvk(), strict);
  for (const std::string& complaint : strict.complaints) WarnOf(request, complaint);
  if (target.node->custom) RETURN_IF_ERROR(CheckVersion(object, target.kind));
  RETURN_IF_ERROR(Default(request, object.Root()));
  RecordForAudit(request, object.Root());
  return decoded;
}

meta::Result<meta::Object> DecodePatched(const ResourceRequest& request, json::object document,
                                         std::vector<std::string> complaints, FieldValidation validation,
                                         const std::function<std::string()>& shown, bool kind_counts) {
  const auto invalid = [&shown](std::string_view why) {
    return meta::Invalid(meta::GroupKind{}, "", {meta::Invalid("patch", shown(), std::string(why))});
  };
  const DecodeTarget target{request.BodyKind(), &request.BodySchema(), request.env->knows_kind};
  const bool custom = target.node->custom && kind_counts;  // its kind and apiVersion are validated with the object
  if (custom && meta::FindString(document, "kind").empty())
    return invalid(fmt::format("Object 'Kind' is missing in '{}'", codec::WriteJson(document)));
  if (!custom) {
    if (const std::string why = WrongKindText(document, target); !why.empty() && kind_counts) return invalid(why);
    document["kind"] = target.kind.kind;
    document["apiVersion"] = target.kind.ApiVersion();
  }
  KeepManagedFieldsReset(document);
  Strictness strict;
  Strictness* const collect = validation == FieldValidation::kIgnore ? nullptr : &strict;
  const meta::Result<> normal =
      custom ? NormaliseCustom(document, target, collect) : codec::Normalise(document, *target.node, collect);
  if (!normal && normal.error().Code() != 400) return normal.error();
  if (!normal) {
    // kube-apiserver converts the result of a strategic merge patch to the Go type without encoding it as JSON.
    const std::string why = kind_counts ? "" : codec::ConversionError(document, request.BodySchema());
    return invalid(why.empty() ? normal.error().Message() : why);
  }
  if (const std::string why = ConversionProblem(request, document); !why.empty()) return invalid(why);
  complaints.insert(complaints.end(), strict.complaints.begin(), strict.complaints.end());
  if (!complaints.empty() && validation == FieldValidation::kStrict) return invalid(Join(complaints));
  if (validation == FieldValidation::kWarn) {
    for (const std::string& complaint : complaints) WarnOf(request, complaint);
  }
  RETURN_IF_ERROR(Default(request, document));
  return meta::Object(std::move(document));
}

meta::Result<> NormaliseForStore(const ResourceRequest& request, meta::Object& object) {
  return codec::NormaliseForStore(object.Root(), *request.Resource().schema);
}

meta::Result<json::object> DecodeDeleteOptions(const ResourceRequest& request) {
  ASSIGN_OR_RETURN(const codec::Format format, codec::NegotiateInput(request.http.Header("content-type"), {}));
  const schema::Node* node = request.env->meta_schema
                                 ? request.env->meta_schema->Find("io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions")
                                 : nullptr;
  if (format == codec::Format::kProtobuf && node) {
    meta::Result<meta::Object> object =
        codec::ReadProtobuf(request.http.body, *node, meta::NewArena(), kProtobufLimits);
    if (!object && object.error().Code() != 400) return object.error();
    if (!object) return meta::BadRequest(object.error().Message());
    RecordDeleteOptions(request, object->Root());
    return std::move(object->Root());
  }
  meta::Result<json::value> parsed = Parse(format, request.http.body, nullptr);
  if (!parsed && parsed.error().Code() != 400) return parsed.error();
  if (!parsed) {
    const std::string_view head = format == codec::Format::kJson ? "couldn't get version/kind; json parse error: " : "";
    return meta::BadRequest(fmt::format("{}{}", head, parsed.error().Message()));
  }
  if (!parsed->is_object()) return meta::BadRequest("decoded object cannot be converted to DeleteOptions");
  json::object document = std::move(parsed->get_object());
  const std::string_view kind = meta::FindString(document, "kind");
  if (!kind.empty() && kind != "DeleteOptions") {
    return meta::BadRequest(
        fmt::format("no kind {} is registered for version {} in scheme \"pkg/runtime/scheme.go:111\"",
                    meta::Quoted(kind), meta::Quoted(meta::FindString(document, "apiVersion"))));
  }
  if (node) RETURN_IF_ERROR(codec::Normalise(document, *node, nullptr));
  RecordDeleteOptions(request, document);
  return document;
}

}  // namespace apimesh::endpoint
