#include "lib/endpoint/output/partial_metadata.h"

#include <fmt/format.h>

#include "lib/codec/codec.h"
#include "lib/codec/json/json_parts.h"

namespace apimesh::endpoint {
namespace json = meta::json;
namespace {

/// Puts the metadata of a custom resource, whose keys are sorted, in the field order of the built-in kind
/// PartialObjectMetadata.
std::string InOrder(const ResourceRequest& request, std::string_view metadata) {
  const schema::Schema* schema = request.env->meta_schema;
  const schema::Node* node = schema ? schema->Find("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta") : nullptr;
  meta::Result<json::value> value = codec::ParseJson(metadata, meta::NewArena());
  if (!node || !value || !value->is_object() || !codec::Normalise(value->get_object(), *node, nullptr))
    return std::string(metadata);
  return codec::WriteJson(*value);
}

/// Removes the annotations that stand for fields.
std::string WithoutFields(const std::vector<std::string>& annotations, std::string_view metadata) {
  meta::Result<json::value> value = codec::ParseJson(metadata, meta::NewArena());
  json::value* const found =
      value && value->is_object() ? meta::FindField(value->get_object(), "annotations") : nullptr;
  if (!found || !found->is_object()) return std::string(metadata);
  for (const std::string& annotation : annotations) meta::EraseField(found->get_object(), annotation);
  if (found->get_object().empty()) meta::EraseField(value->get_object(), "annotations");
  return codec::WriteJson(*value);
}

std::string Head(const ResourceRequest& request) {
  const std::string& version = request.output.as_version;
  return fmt::format("{{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/{}\",\"metadata\":",
                     version.empty() ? "v1" : version);
}

}  // namespace

std::string PartialMetadataOf(const ResourceRequest& request, std::string_view text) {
  const std::string_view metadata = codec::RawField(text, "metadata").value_or("{}");
  std::string out = Head(request);
  if (request.served->custom) {
    out += InOrder(request, metadata);
  } else if (const auto& annotations = request.Resource().field_annotations; !annotations.empty()) {
    out += WithoutFields(annotations, metadata);
  } else {
    out += metadata;
  }
  out += '}';
  return out;
}

void AppendPartialMetadata(Pieces& out, const ResourceRequest& request, const storage::EntryPtr& entry) {
  if (request.served->custom || !request.Resource().field_annotations.empty()) {
    const auto make = [&request](std::string_view text) { return PartialMetadataOf(request, text); };
    return out.Shared(entry->Encoded("metadata." + request.output.as_version, make));
  }
  std::string_view metadata = entry->MetadataText();
  if (metadata.empty()) metadata = codec::RawField(entry->JsonText(), "metadata").value_or("{}");
  out.Text(Head(request));
  out.Shared(entry, metadata);
  out.Text("}");
}

}  // namespace apimesh::endpoint
