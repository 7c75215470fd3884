#include <fmt/format.h>

#include "lib/admission/fields.h"
#include "lib/admission/webhooks/review.h"
#include "lib/base/text/base64.h"
#include "lib/codec/codec.h"
#include "lib/codec/looks_like_json.h"

namespace apimesh::admission::webhooks {
namespace {

constexpr std::string_view kReviewKind = "AdmissionReview";

constexpr codec::ParseLimits kLimits = {.bytes = 16 << 20};

ReviewError Undecodable(std::string message) { return {true, std::move(message)}; }
ReviewError Unacceptable(std::string message) { return {false, std::move(message)}; }

/// Reads the fields of an object as Go's decoder does: null counts as absent, and another type than the expected one is
/// an error. Keeps the first error.
class Reader {
 public:
  Reader(const json::object& object, std::string type, std::string path, std::string& error)
      : object_(object), type_(std::move(type)), path_(std::move(path)), error_(error) {}

  const json::value* Get(std::string_view name, json::kind kind, std::string_view go_type) {
    const json::value* value = meta::FindField(object_, name);
    if (!value || value->is_null()) return nullptr;
    if (value->kind() == kind) return value;
    Fail(*value, name, go_type);
    return nullptr;
  }
  std::string String(std::string_view name) {
    const json::value* value = Get(name, json::kind::string, "string");
    return value ? std::string(value->get_string()) : std::string();
  }
  void Fail(const json::value& value, std::string_view name, std::string_view go_type) {
    if (!error_.empty()) return;
    error_ = fmt::format("json: cannot unmarshal {} into Go struct field {}.{}{} of type {}", GoTypeName(value), type_,
                         path_, name, go_type);
  }

 private:
  const json::object& object_;
  const std::string type_, path_;
  std::string& error_;
};

struct Parsed {
  std::string api_version, kind;
  bool has_response = false;
  std::string uid;
  std::optional<std::string> patch_type;
  ReviewResponse response;
};

void ReadPatch(Reader& reader, Parsed& parsed, std::string& error) {
  if (const json::value* type = reader.Get("patchType", json::kind::string, "v1.PatchType"))
    parsed.patch_type = std::string(type->get_string());
  const json::value* patch = reader.Get("patch", json::kind::string, "[]uint8");
  if (!patch) return;
  const std::optional<std::size_t> bad = DecodeBase64(std::string_view(patch->get_string()), parsed.response.patch);
  if (bad && error.empty()) error = fmt::format("illegal base64 data at input byte {}", *bad);
}

void ReadLists(Reader& reader, Parsed& parsed) {
  if (const json::value* annotations = reader.Get("auditAnnotations", json::kind::object, "map[string]string")) {
    for (const auto& member : annotations->get_object()) {
      if (!member.value().is_string()) {
        reader.Fail(member.value(), "auditAnnotations", "string");
        continue;
      }
      if (parsed.response.audit_annotations.size() >= ReviewResponse::kMaxAnnotations) continue;
      parsed.response.audit_annotations.emplace(member.key(), std::string_view(member.value().get_string()));
    }
  }
  if (const json::value* warnings = reader.Get("warnings", json::kind::array, "[]string")) {
    for (const json::value& warning : warnings->get_array()) {
      if (!warning.is_string()) {
        reader.Fail(warning, "warnings", "string");
        continue;
      }
      if (parsed.response.warnings.size() >= ReviewResponse::kMaxWarnings) continue;
      parsed.response.warnings.emplace_back(std::string_view(warning.get_string()));
    }
  }
}

Parsed ReadDocument(const json::object& document, std::string& error) {
  Parsed parsed;
  Reader review(document, "AdmissionReview", "", error);
  parsed.kind = meta::FindString(document, "kind");
  parsed.api_version = meta::FindString(document, "apiVersion");
  const json::value* response = review.Get("response", json::kind::object, "v1.AdmissionResponse");
  if (!response) return parsed;
  parsed.has_response = true;
  Reader reader(response->get_object(), "AdmissionResponse", "response.", error);
  parsed.uid = reader.String("uid");
  if (const json::value* allowed = reader.Get("allowed", json::kind::bool_, "bool"))
    parsed.response.allowed = allowed->get_bool();
  if (const json::value* status = reader.Get("status", json::kind::object, "v1.Status"))
    parsed.response.result = status->get_object();
  ReadPatch(reader, parsed, error);
  ReadLists(reader, parsed);
  return parsed;
}

/// Returns what breaks the rules of v1, or "".
std::string ComplaintOf(const Parsed& parsed, std::string_view uid, bool mutating) {
  if (parsed.uid != uid)
    return fmt::format("expected response.uid={}, got {}", meta::Quoted(uid), meta::Quoted(parsed.uid));
  const meta::GroupVersion version = meta::GroupVersion::Parse(parsed.api_version);
  const meta::Gvk kind{version.group, version.version, parsed.kind},
      wanted{"admission.k8s.io", "v1", "AdmissionReview"};
  if (kind != wanted) {
    return fmt::format("expected webhook response of {}, got {}", wanted.ToString(), kind.ToString());
  }
  const bool has_patch = !parsed.response.patch.empty();
  if (!mutating && has_patch) return "validating webhook may not return response.patch";
  if (!mutating && parsed.patch_type) return "validating webhook may not return response.patchType";
  if (has_patch && !parsed.patch_type) return "webhook returned response.patch but not response.patchType";
  if (!has_patch && parsed.patch_type) return "webhook returned response.patchType but not response.patch";
  if (parsed.patch_type && parsed.patch_type->empty()) return "webhook returned invalid response.patchType of \"\"";
  return "";
}

/// Returns the error of the decoder for a document of another type, or "".
std::string WrongType(const Parsed& parsed, ReviewVersion version) {
  const std::string_view wanted = version == ReviewVersion::kV1 ? "v1" : "v1beta1";
  const std::string_view other = version == ReviewVersion::kV1 ? "v1beta1" : "v1";
  constexpr std::string_view kCannotConvert = "converting ({}) to ({}.AdmissionReview): unknown conversion";
  if (parsed.kind == kReviewKind && parsed.api_version == fmt::format("admission.k8s.io/{}", other))
    return fmt::format(fmt::runtime(kCannotConvert), fmt::format("{}.AdmissionReview", other), wanted);
  if (parsed.kind == "Status" && parsed.api_version == "v1")
    return fmt::format(fmt::runtime(kCannotConvert), "v1.Status", wanted);
  const bool known_version = parsed.api_version.empty() || parsed.api_version == "admission.k8s.io/v1" ||
                             parsed.api_version == "admission.k8s.io/v1beta1";
  const bool known_kind = parsed.kind.empty() || parsed.kind == kReviewKind;
  if (known_version && known_kind) return "";
  const std::string kind = parsed.kind.empty() ? "AdmissionReview" : parsed.kind;
  return fmt::format("no kind {} is registered for version {} in scheme \"pkg/runtime/scheme.go:111\"",
                     meta::Quoted(kind), meta::Quoted(parsed.api_version));
}

}  // namespace

std::string_view GoTypeName(const json::value& value) {
  switch (value.kind()) {
    case json::kind::array: return "array";
    case json::kind::object: return "object";
    case json::kind::string: return "string";
    case json::kind::bool_: return "bool";
    default: return "number";
  }
}

ReviewResult<ReviewResponse> ReadReview(std::string_view body, ReviewVersion version, std::string_view uid,
                                        bool mutating) {
  // As in kube-apiserver, an answer that does not start like a JSON object is read as YAML.
  const bool json_object = codec::LooksLikeJson(body);
  const meta::Result<json::value> document = json_object ? codec::ParseJson(body, meta::NewArena(), nullptr, kLimits)
                                                         : codec::ParseYaml(body, meta::NewArena(), nullptr, kLimits);
  if (!document && !json_object) return Undecodable(document.error().Message());
  if (!document) return Undecodable("couldn't get version/kind; json parse error: " + document.error().Message());
  if (document->is_null()) return Unacceptable("webhook response was absent");
  if (!document->is_object()) {
    return Undecodable(fmt::format(
        "couldn't get version/kind; json parse error: json: cannot unmarshal {} into Go value of type struct {{ "
        "APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }}",
        GoTypeName(*document)));
  }
  std::string error;
  Parsed parsed = ReadDocument(document->get_object(), error);
  if (const std::string wrong = WrongType(parsed, version); !wrong.empty()) return Undecodable(wrong);
  if (!error.empty()) return Undecodable(error);
  if (!parsed.has_response) return Unacceptable("webhook response was absent");
  if (version == ReviewVersion::kV1beta1) {
    // Servers of this version were never required to return the uid, the kind or the type of the patch.
    if (!mutating) parsed.response.patch.clear();
    parsed.patch_type = "JSONPatch";
  } else if (const std::string complaint = ComplaintOf(parsed, uid, mutating); !complaint.empty()) {
    return Unacceptable(complaint);
  }
  if (!parsed.response.patch.empty()) parsed.response.patch_type = *parsed.patch_type;
  return std::move(parsed.response);
}

}  // namespace apimesh::admission::webhooks
