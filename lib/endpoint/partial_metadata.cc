#include "lib/endpoint/partial_metadata.h"

#include <fmt/format.h>

#include "lib/codec/codec.h"
#include "lib/codec/json_parts.h"

namespace apimesh::endpoint {
namespace json = meta::json;
namespace {

/// A custom resource has its keys sorted; this kind is a built-in one, with the order of its fields.
std::string InOrder(const ResourceRequest& request, std::string_view metadata) {
  const schema::Schema* schema = request.env->meta_schema;
  const schema::Node* node = schema ? schema->Find("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta") : nullptr;
  meta::Result<json::value> value = codec::ParseJson(metadata, meta::NewArena());
  if (!node || !value || !value->is_object() || !codec::Normalise(value->get_object(), *node, nullptr)) return std::string(metadata);
  return codec::WriteJson(*value);
}

}  // namespace

void AppendPartialMetadata(std::string& out, const ResourceRequest& request, std::string_view text) {
  const std::string& version = request.output.as_version;
  const std::string_view metadata = codec::RawField(text, "metadata").value_or("{}");
  fmt::format_to(std::back_inserter(out), "{{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/{}\",\"metadata\":",
                 version.empty() ? "v1" : version);
  if (request.served->custom) {
    out += InOrder(request, metadata);
  } else {
    out += metadata;  // as it is: a list of these parses nothing
  }
  out += '}';
}

std::string PartialMetadataOf(const ResourceRequest& request, std::string_view text) {
  std::string out;
  AppendPartialMetadata(out, request, text);
  return out;
}

SharedBytes KeptPartialMetadata(const ResourceRequest& request, const storage::Entry& entry) {
  const auto make = [&request](std::string_view text) { return PartialMetadataOf(request, text); };
  return entry.Encoded("metadata." + request.output.as_version, make);
}

}  // namespace apimesh::endpoint
