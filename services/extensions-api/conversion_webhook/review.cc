#include "services/extensions-api/conversion_webhook/review.h"

#include <fmt/format.h>

#include "lib/codec/codec.h"
#include "lib/codec/json/json_parts.h"
#include "lib/meta/equal.h"
#include "lib/meta/object_meta.h"

namespace apimesh::extensions_api {
namespace {

namespace json = meta::json;
using Objects = std::vector<meta::Object>;

constexpr std::string_view kGroup = "apiextensions.k8s.io";

/// Returns a kind as Go prints it: "group/version, Kind=kind".
std::string Shown(const meta::Gvk& kind) { return fmt::format("{}/{}, Kind={}", kind.group, kind.version, kind.kind); }

/// Returns why kube-apiserver cannot decode a review of this kind, or "" if it can. A review without a kind is decoded.
std::string CheckKind(const json::object& review, std::string_view review_version) {
  const std::string_view kind = meta::FindString(review, "kind"), api_version = meta::FindString(review, "apiVersion");
  const meta::GroupVersion got = meta::GroupVersion::Parse(api_version);
  const bool known = got.group == kGroup && (got.version == "v1" || got.version == "v1beta1");
  if ((!kind.empty() && kind != "ConversionReview") || (!api_version.empty() && !known)) {
    return fmt::format(
        "no kind {} is registered for version {} in scheme \"pkg/runtime/scheme.go:111\"",
        meta::Quoted(kind.empty() ? "ConversionReview" : kind),
        meta::Quoted(api_version.empty() ? fmt::format("{}/{}", kGroup, review_version) : std::string(api_version)));
  }
  if (api_version.empty() || got.version == review_version) return {};
  return fmt::format("converting ({}.ConversionReview) to ({}.ConversionReview): unknown conversion", got.version,
                     review_version);
}

/// Returns the text of the converted object of a response with one object.
std::string RawObject(std::string_view response) {
  const auto inner = codec::RawField(response, "response");
  const auto list = inner ? codec::RawField(*inner, "convertedObjects") : std::nullopt;
  if (!list || list->size() < 2) return {};
  return std::string(list->substr(1, list->size() - 2));
}

std::string_view GoType(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null: return "<nil>";
    case json::kind::bool_: return "bool";
    case json::kind::int64:
    case json::kind::uint64: return "int64";
    case json::kind::double_: return "float64";
    case json::kind::string: return "string";
    case json::kind::array: return "[]interface {}";
    case json::kind::object: return "map[string]interface {}";
  }
  return "";
}

/// Returns the errors as Go prints an aggregate of them.
std::string Aggregate(const meta::FieldErrors& errors) {
  std::vector<std::string> texts;
  for (const meta::FieldError& error : errors) texts.push_back(fmt::format("{}: {}", error.field, error.Message()));
  return texts.size() == 1 ? texts.front() : fmt::format("[{}]", fmt::join(texts, ", "));
}

/// Returns "" if the object is the same one as the original.
std::string CheckIdentity(const meta::Object& original, const meta::Object& converted) {
  const auto differ = [](std::string_view what, std::string_view a, std::string_view b) {
    return a == b ? std::string() : fmt::format("must have the same {}: {} != {}", what, a, b);
  };
  std::string why = differ("name", original.Name(), converted.Name());
  if (why.empty()) why = differ("namespace", original.Namespace(), converted.Namespace());
  if (why.empty()) why = differ("UID", original.Uid(), converted.Uid());
  return why;
}

/// Checks the labels or annotations of a response.
std::string CheckTexts(std::string_view field, const json::value* original, const json::value& response) {
  if (!response.is_object())
    return fmt::format("invalid metadata.{} of type {} in converted object", field, GoType(response));
  if (original && !original->is_object() && !original->is_null())
    return fmt::format("invalid metadata.{} of type {} in original object", field, GoType(*original));
  for (const auto& [name, value] : response.get_object()) {
    if (!value.is_string())
      return fmt::format("metadata.{}[{}] must be a string, but is {} in converted object", field,
                         std::string_view(name), GoType(value));
  }
  if (original && meta::Equal(*original, response)) return {};
  const meta::FieldErrors errors =
      field == "labels" ? meta::ValidateLabels(&response, meta::Path("metadata").Child("labels"))
                        : meta::ValidateAnnotations(&response, meta::Path("metadata").Child("annotation"));
  return errors.empty() ? std::string() : Aggregate(errors);
}

/// Gives the converted object the metadata of the original, but keeps its labels and annotations. Returns "" or why
/// they are invalid.
std::string RestoreMetadata(const meta::Object& original, meta::Object& converted) {
  const json::value* response = meta::FindField(converted.Root(), "metadata");
  if (!response) return "missing metadata in converted object";
  if (!response->is_object()) return fmt::format("invalid metadata of type {} in converted object", GoType(*response));
  json::object metadata(original.Metadata(), converted.Root().storage());
  for (const std::string_view field : {std::string_view("labels"), std::string_view("annotations")}) {
    const json::value* given = meta::FindField(response->get_object(), field);
    if (!given || given->is_null()) {
      meta::EraseField(metadata, field);
      continue;
    }
    std::string why = CheckTexts(field, meta::FindField(metadata, field), *given);
    if (!why.empty()) return why;
    metadata[json::string_view(field.data(), field.size())] = *given;
  }
  converted.Root()["metadata"] = std::move(metadata);
  return {};
}

/// Checks one converted object. Returns "" or the end of the message.
std::string CheckObject(const meta::Object& original, meta::Object& converted, const meta::Gvk& desired) {
  const meta::Gvk got = converted.GetGvk();
  if (got.Version() != desired.Version()) {
    return fmt::format("returned invalid object at index 0: invalid groupVersion (expected {}, received {})",
                       desired.ApiVersion(), got.ApiVersion());
  }
  if (got.kind != original.Kind()) {
    return fmt::format("returned invalid object at index 0: invalid kind (expected {}, received {})", original.Kind(),
                       got.kind);
  }
  if (const std::string why = CheckIdentity(original, converted); !why.empty())
    return "returned invalid object: " + why;
  if (const std::string why = RestoreMetadata(original, converted); !why.empty())
    return "returned invalid metadata: " + why;
  return {};
}

/// Checks the head of the review. Returns "" or why it is malformed.
std::string CheckHead(const json::object& review, std::string_view review_version, std::string_view uid) {
  const meta::Gvk expected{std::string(kGroup), "v1", "ConversionReview"};
  const auto received = meta::GroupVersion::Parse(meta::FindString(review, "apiVersion"));
  const meta::Gvk got{received.group, received.version, std::string(meta::FindString(review, "kind"))};
  // A response in v1beta1 is not checked for its kind and uid, as in kube-apiserver.
  const bool strict = review_version == "v1";
  if (strict && got != expected)
    return fmt::format("expected webhook response of {}, got {}", Shown(expected), Shown(got));
  const json::value* response = meta::FindField(review, "response");
  if (!response || !response->is_object()) return "no response provided";
  const std::string_view got_uid = meta::FindString(response->get_object(), "uid");
  if (strict && got_uid != uid)
    return fmt::format("expected response.uid={}, got {}", meta::Quoted(uid), meta::Quoted(got_uid));
  const json::value* result = meta::FindField(response->get_object(), "result");
  const std::string_view status =
      result && result->is_object() ? meta::FindString(result->get_object(), "status") : std::string_view();
  if (status == "Success") return {};
  const std::string_view message =
      result && result->is_object() ? meta::FindString(result->get_object(), "message") : std::string_view();
  if (!message.empty()) return std::string(message);
  return fmt::format("response.result.status was '{}', not 'Success'", status);
}

}  // namespace

std::string_view SupportedReviewVersion(const std::vector<std::string>& versions) {
  for (const std::string& version : versions) {
    if (version == "v1" || version == "v1beta1") return version;
  }
  return {};
}

std::string WriteReview(std::string_view review_version, std::string_view uid, std::string_view desired_api_version,
                        const std::vector<std::string>& objects) {
  std::string text = fmt::format(
      "{{\"kind\":\"ConversionReview\",\"apiVersion\":\"{}/{}\",\"request\":{{\"uid\":\"{}\",\"desiredAPIVersion\":\"{}"
      "\",\"objects\":[",
      kGroup, review_version, uid, desired_api_version);
  for (std::size_t i = 0; i < objects.size(); ++i) {
    if (i > 0) text += ',';
    text += objects[i];
  }
  text += "]},\"response\":{\"uid\":\"\",\"convertedObjects\":null,\"result\":{\"metadata\":{}}}}\n";
  return text;
}

std::variant<Objects, ConversionFailure> ReadReview(std::string_view review_version, std::string_view uid,
                                                    std::string_view response, const Objects& originals,
                                                    const meta::Gvk& desired) {
  const std::string start = fmt::format("conversion webhook for {} ", Shown(originals.front().GetGvk()));
  meta::Result<json::value> parsed = codec::ParseJson(response, meta::NewArena());
  if (!parsed) parsed = codec::ParseYaml(response, meta::NewArena());  // kube-apiserver accepts YAML, too
  if (!parsed) {
    return ConversionFailure{kCallFailure, fmt::format("{}failed: couldn't get version/kind; json parse error: {}",
                                                       start, parsed.error().Message())};
  }
  if (!parsed->is_object()) {
    return ConversionFailure{
        kCallFailure, fmt::format("{}failed: couldn't get version/kind; json parse error: json: cannot unmarshal {} "
                                  "into Go value of type struct {{ APIVersion string \"json:\\\"apiVersion,"
                                  "omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }}",
                                  start,
                                  parsed->is_array()    ? "array"
                                  : parsed->is_string() ? "string"
                                                        : "number")};
  }
  const json::object& review = parsed->get_object();
  if (const std::string why = CheckKind(review, review_version); !why.empty())
    return ConversionFailure{kCallFailure, start + "failed: " + why};
  if (const std::string why = CheckHead(review, review_version, uid); !why.empty())
    return ConversionFailure{kMalformedResponse, start + "failed: " + why};
  static const json::array kNone;
  const json::value* list = meta::Find(review, "response", "convertedObjects");
  const json::array& items = list && list->is_array() ? list->get_array() : kNone;
  if (items.size() != originals.size()) {
    return ConversionFailure{kPartialResponse,
                             fmt::format("{}returned {} objects, expected {}", start, items.size(), originals.size())};
  }
  Objects converted;
  converted.reserve(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!items[i].is_object() || meta::FindString(items[i].get_object(), "kind").empty()) {
      return ConversionFailure{kInvalidObject, fmt::format("Object 'Kind' is missing in '{}'", RawObject(response))};
    }
    meta::Object object(json::object(items[i].get_object(), meta::NewArena()));
    if (const std::string why = CheckObject(originals[i], object, desired); !why.empty())
      return ConversionFailure{kInvalidObject, start + why};
    converted.push_back(std::move(object));
  }
  return converted;
}

}  // namespace apimesh::extensions_api
