#include "services/authn-authz/config/strict.h"

#include "lib/codec/looks_like_json.h"
#include "lib/meta/object.h"
#include "services/authn-authz/config/join_errors.h"
#include "services/authn-authz/config/yaml.h"

namespace apimesh::authn_authz {
namespace {

void FindUnknown(const boost::json::value& value, const Shape& shape, const meta::Path& path, bool sorted,
                 std::vector<std::string>& unknown) {
  if (shape.fields.empty()) return;
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.get_array().size(); ++i)
      FindUnknown(value.get_array()[i], shape, path.Index(i), sorted, unknown);
  }
  if (!value.is_object()) return;
  std::vector<const boost::json::key_value_pair*> entries;
  for (const auto& entry : value.get_object()) entries.push_back(&entry);
  if (sorted)
    std::sort(entries.begin(), entries.end(), [](const auto* a, const auto* b) { return a->key() < b->key(); });
  for (const auto* entry : entries) {
    const meta::Path child = path.Child(entry->key());
    const auto known = shape.fields.find(std::string(entry->key()));
    if (known == shape.fields.end()) {
      unknown.push_back(fmt::format("unknown field {}", meta::Quoted(child.ToString())));
    } else {
      FindUnknown(entry->value(), known->second, child, sorted, unknown);
    }
  }
}

}  // namespace

meta::Result<boost::json::object> ParseStrictly(std::string_view text, std::string_view kind,
                                                const std::vector<std::string>& versions, const Shape& shape) {
  ASSIGN_OR_RETURN(boost::json::object file, ParseConfigFile(text));
  for (const char* field : {"apiVersion", "kind"}) {
    if (meta::FindString(file, field).empty())
      return meta::BadRequest(fmt::format("Object '{}' is missing in '{}'", field, text));
  }
  const std::string_view version = meta::FindString(file, "apiVersion"), found_kind = meta::FindString(file, "kind");
  const bool known = std::any_of(versions.begin(), versions.end(),
                                 [&](const std::string& v) { return version == "apiserver.config.k8s.io/" + v; });
  if (!known || found_kind != kind) {
    return meta::BadRequest(
        fmt::format("no kind \"{}\" is registered for version \"{}\" in scheme \"pkg/runtime/scheme.go:111\"",
                    found_kind, version));
  }
  std::vector<std::string> unknown;
  Shape whole = shape;
  whole.fields["apiVersion"];
  whole.fields["kind"];
  // Unknown fields of JSON are reported in their order, those of YAML sorted, as in kube-apiserver.
  FindUnknown(file, whole, meta::Path(), !codec::LooksLikeJson(text), unknown);
  if (!unknown.empty()) {
    return meta::BadRequest(fmt::format("strict decoding error: {}", fmt::join(unknown, ", ")));
  }
  return file;
}

std::string JoinFieldErrors(const meta::FieldErrors& errors) {
  std::vector<std::string> texts;
  for (const meta::FieldError& error : errors) texts.push_back(fmt::format("{}: {}", error.field, error.Message()));
  return texts.empty() ? "" : JoinErrors(texts);
}

}  // namespace apimesh::authn_authz
