#include "lib/endpoint/partial_metadata.h"

#include <fmt/format.h>

#include "lib/codec/codec.h"

namespace apimesh::endpoint {
namespace json = meta::json;

std::string PartialMetadataOf(const ResourceRequest& request, const meta::Object& object) {
  const std::string& version = request.output.as_version;
  std::string out = fmt::format("{{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/{}\",\"metadata\":",
                                version.empty() ? "v1" : version);
  const schema::Node* node = nullptr;
  if (request.served->custom && request.env->meta_schema) {
    // A custom resource has its keys sorted; this kind is a built-in one, with the order of its fields.
    node = request.env->meta_schema->Find("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
  }
  if (node) {
    json::object metadata = object.Metadata();
    if (codec::Normalise(metadata, *node, nullptr)) return out + codec::WriteJson(metadata) + "}";
  }
  codec::AppendJson(out, object.Metadata());
  return out + "}";
}

std::string PartialMetadataOf(const ResourceRequest& request, std::string_view text) {
  meta::Result<json::value> value = codec::ParseJson(text, meta::NewArena());
  if (!value || !value->is_object()) return PartialMetadataOf(request, meta::Object());
  return PartialMetadataOf(request, meta::Object(std::move(value->get_object())));
}

}  // namespace apimesh::endpoint
