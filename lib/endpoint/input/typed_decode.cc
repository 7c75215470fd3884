#include "lib/endpoint/input/typed_decode.h"

#include <fmt/format.h>

#include "lib/base/hash/hex.h"
#include "lib/codec/looks_like_json.h"
#include "lib/endpoint/input/body_values.h"

namespace apimesh::endpoint {
namespace {

namespace json = meta::json;
using codec::Format;
using codec::ParseLimits;
using codec::Strictness;

/// Returns the first bytes of a body, as text if it looks like JSON and in hexadecimal otherwise.
std::string Snippet(std::string_view body) {
  constexpr std::size_t kShown = 30;
  if (body.empty()) return "<empty>";
  const std::string_view shown = body.substr(0, kShown);
  std::string text;
  if (codec::LooksLikeJson(body)) {
    text = shown;
  } else {
    text = Hex({reinterpret_cast<const unsigned char*>(shown.data()), shown.size()});
  }
  return body.size() > kShown ? text + " ..." : text;
}

meta::ApiError Unrecognized(const meta::Gvk& kind, std::string_view body, std::string_view why) {
  return meta::BadRequest(
      fmt::format("the object provided is unrecognized (must be of type {}): {} ({})", kind.kind, why, Snippet(body)));
}

constexpr std::string_view kNoKind = "couldn't get version/kind; json parse error: json: cannot unmarshal ";

std::string_view GoNameOf(const json::value& value) {
  return value.is_array()    ? "array"
         : value.is_object() ? "object"
         : value.is_string() ? "string"
         : value.is_bool()   ? "bool"
                             : "number";
}

/// Returns the kind and apiVersion of the document. Missing parts are taken from `expected`. The message of an error
/// describes the problem.
meta::Result<meta::Gvk> KindOf(const json::object& document, const meta::Gvk& expected) {
  for (const char* field : {"apiVersion", "kind"}) {
    const json::value* value = meta::FindField(document, field);
    if (value && !value->is_null() && !value->is_string()) {
      return meta::BadRequest(
          fmt::format("{}{} into Go struct field .{} of type string", kNoKind, GoNameOf(*value), field));
    }
  }
  meta::Gvk actual = expected;
  const std::string_view api_version = meta::FindString(document, "apiVersion");
  if (std::count(api_version.begin(), api_version.end(), '/') > 1) {
    return meta::BadRequest(fmt::format("unexpected GroupVersion string: {}", api_version));
  }
  if (const std::string_view kind = meta::FindString(document, "kind"); !kind.empty()) actual.kind = kind;
  if (!api_version.empty()) {
    meta::GroupVersion version = meta::GroupVersion::Parse(api_version);
    if (!version.version.empty() || version.group != expected.group) {
      actual.group = std::move(version.group);
      actual.version = std::move(version.version);
    }
  }
  return actual;
}

/// Returns the same for a complete body, which may be any JSON value.
meta::Result<meta::Gvk> KindOfBody(const json::value& body, const meta::Gvk& expected) {
  if (body.is_object()) return KindOf(body.get_object(), expected);
  if (body.is_null()) return expected;
  return meta::BadRequest(fmt::format(
      R"({}{} into Go value of type struct {{ APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }})",
      kNoKind, GoNameOf(body)));
}

/// kube-apiserver decodes any kind that it knows and fails when it converts the object to the expected kind, so the
/// message depends on whether the kind is known.
std::string WrongKindText(const meta::Gvk& actual, const DecodeTarget& target) {
  const meta::Gvk& wanted = target.kind;
  if (!target.knows || !target.knows(actual)) {
    return fmt::format("no kind {} is registered for version {} in scheme \"pkg/runtime/scheme.go:111\"",
                       meta::Quoted(actual.kind), meta::Quoted(actual.ApiVersion()));
  }
  const std::string package = wanted.group.empty() ? "core" : wanted.group.substr(0, wanted.group.find('.'));
  return fmt::format("converting ({}.{}) to ({}.{}): unknown conversion", actual.version, actual.kind, package,
                     wanted.kind);
}

meta::ApiError WrongVersion(std::string_view actual, const meta::Gvk& wanted) {
  return meta::BadRequest(fmt::format("the API version in the data ({}) does not match the expected API version ({})",
                                      actual, wanted.ApiVersion()));
}

meta::ApiError WrongKind(const meta::Gvk& actual, const DecodeTarget& target) {
  const meta::Gvk& wanted = target.kind;
  if (actual.GroupKind() == wanted.GroupKind() && target.knows && target.knows(actual))
    return WrongVersion(actual.ApiVersion(), wanted);
  return CannotBeHandled(actual, wanted, WrongKindText(actual, target));
}

meta::Result<meta::Object> DecodeProtobuf(std::string_view body, const DecodeTarget& target, json::storage_ptr arena) {
  const auto kind = codec::PeekProtobuf(body);
  if (!kind) return Unrecognized(target.kind, body, kind.error().Message());
  meta::Gvk actual = *kind;
  if (actual.kind.empty()) actual = target.kind;
  if (actual != target.kind) {
    return WrongKind(actual, target);
  }
  auto object = codec::ReadProtobuf(body, *target.node, std::move(arena), kProtobufLimits);
  if (!object && object.error().Code() != 400) return object.error();
  if (!object) return CannotBeHandled(actual, target.kind, object.error().Message());
  if (object->GetGvk() == target.kind) return object;
  object->SetGvk(target.kind);
  RETURN_IF_ERROR(codec::Normalise(object->Root(), *target.node, nullptr));
  return object;
}

/// Normalises a custom resource whose kind or version is not the expected one. If its group and kind are right,
/// kube-apiserver compares its fields with the schema of the version that the object names; a version that does not
/// exist has no fields. The fields of metadata are always compared.
meta::Result<> NormaliseOtherKind(json::object& root, const meta::Gvk& actual, const DecodeTarget& target,
                                  Strictness* strict) {
  Strictness found;
  std::vector<std::string> names;
  for (const auto& member : root) names.emplace_back(member.key());
  RETURN_IF_ERROR(codec::Normalise(root, *target.node, &found));
  if (!strict) return {};
  for (std::string& complaint : found.complaints) {
    if (strict->WantsMore() && complaint.starts_with("unknown field \"metadata."))
      strict->complaints.push_back(std::move(complaint));
  }
  if (actual.GroupKind() != target.kind.GroupKind() || (target.knows && target.knows(actual))) return {};
  for (const std::string& name : names) {
    if (strict->WantsMore() && name != "apiVersion" && name != "kind" && name != "metadata")
      strict->complaints.push_back(fmt::format("unknown field {}", meta::Quoted(name)));
  }
  return {};
}

}  // namespace

meta::ApiError CannotBeHandled(const meta::Gvk& actual, const meta::Gvk& expected, std::string_view why) {
  return meta::BadRequest(fmt::format("{} in version {} cannot be handled as a {}: {}", actual.kind,
                                      meta::Quoted(actual.version), expected.kind, why));
}

meta::Result<> NormaliseCustom(json::object& root, const DecodeTarget& target, Strictness* strict) {
  const meta::Result<meta::Gvk> actual = KindOf(root, target.kind);
  if (!actual || *actual == target.kind) return codec::Normalise(root, *target.node, strict);
  return NormaliseOtherKind(root, *actual, target, strict);
}

meta::Result<> CheckVersion(const meta::Object& object, const meta::Gvk& expected) {
  if (object.ApiVersion() == expected.ApiVersion()) return {};
  return WrongVersion(object.ApiVersion(), expected);
}

void KeepManagedFieldsReset(json::object& document) {
  json::value* metadata = meta::FindField(document, "metadata");
  json::value* fields =
      metadata && metadata->is_object() ? meta::FindField(metadata->get_object(), "managedFields") : nullptr;
  if (fields && fields->is_array() && fields->get_array().empty()) fields->get_array().emplace_back(json::object());
}

meta::Result<meta::Object> Decode(std::string_view body, Format format, const DecodeTarget& target,
                                  json::storage_ptr arena, Strictness* strict, const ParseLimits& limits) {
  if (format == Format::kProtobuf) return DecodeProtobuf(body, target, std::move(arena));
  auto document = format == Format::kYaml ? codec::ParseYaml(body, arena, strict, limits)
                                          : codec::ParseJson(body, arena, strict, limits);
  if (!document) {
    if (document.error().Code() != 400) return document.error();
    const bool syntax = format == Format::kJson;
    return Unrecognized(target.kind, body,
                        (syntax ? "couldn't get version/kind; json parse error: " : "") + document.error().Message());
  }
  const auto actual = KindOfBody(*document, target.kind);
  if (!actual) return Unrecognized(target.kind, body, actual.error().Message());
  if (target.node->custom && document->is_object()) {  // kind and apiVersion have no defaults here
    if (meta::FindString(document->get_object(), "kind").empty()) {
      return Unrecognized(target.kind, body, fmt::format("Object 'Kind' is missing in '{}'", body));
    }
    if (meta::FindString(document->get_object(), "apiVersion").empty()) {
      return WrongVersion("", target.kind);
    }
  }
  const bool other = actual->kind != target.kind.kind || actual->Version() != target.kind.Version();
  if (other && !target.node->custom) return WrongKind(*actual, target);
  json::object root(arena);
  if (document->is_object()) root = std::move(document->get_object());
  KeepManagedFieldsReset(root);
  if (meta::FindString(root, "kind").empty() || meta::FindString(root, "apiVersion").empty()) {
    root["kind"] = target.kind.kind;
    root["apiVersion"] = target.kind.ApiVersion();
  }
  const meta::Result<> result =
      target.node->custom ? NormaliseCustom(root, target, strict) : codec::Normalise(root, *target.node, strict);
  if (!result) {
    if (result.error().Code() != 400) return result.error();
    return CannotBeHandled(*actual, target.kind, result.error().Message());
  }
  return meta::Object(std::move(root));
}

std::string WrongKindText(const json::object& document, const DecodeTarget& target) {
  const meta::Result<meta::Gvk> actual = KindOf(document, target.kind);
  if (!actual || *actual == target.kind) return "";
  return WrongKindText(*actual, target);
}

meta::ApiError StrictDecodingError(const meta::Gvk& kind, const Strictness& strict) {
  return CannotBeHandled(kind, kind, fmt::format("strict decoding error: {}", fmt::join(strict.complaints, ", ")));
}

}  // namespace apimesh::endpoint
