#include "services/core-api/openapi/openapi_documents.h"

#include <fmt/format.h>

#include "lib/codec/codec.h"
#include "lib/endpoint/discovery.h"
#include "lib/endpoint/hashed_document.h"
#include "lib/schema/builtin.h"
#include "lib/service/chain.h"

namespace apimesh::core_api {
namespace {

constexpr std::string_view kV2 = "/openapi/v2", kV3 = "/openapi/v3/";

void RemoveEnumsFrom(meta::json::value& value);

schema::OpenApiResource Describe(const registry::Resource& resource) {
  schema::OpenApiResource described;
  described.kind = resource.gvk;
  described.plural = resource.plural;
  described.namespaced = resource.scope == registry::Scope::kNamespaced;
  described.verbs = resource.verbs;
  for (const registry::Subresource& subresource : resource.subresources) {
    described.subresources.push_back(
        {subresource.name, subresource.kind.kind.empty() ? resource.gvk : subresource.kind, subresource.verbs});
  }
  return described;
}

std::string PathOf(const meta::GroupVersion& version) {
  return version.group.empty() ? "api/" + version.version : fmt::format("apis/{}/{}", version.group, version.version);
}

/// Removes the values of enums, and the part of a description that lists them. A field that is named "enum" is not a
/// list.
void RemoveEnums(meta::json::object& schema) {
  constexpr std::string_view kHeader = "Possible enum values:";
  if (const meta::json::value* values = meta::FindField(schema, "enum"); values && values->is_array())
    meta::EraseField(schema, "enum");
  if (meta::json::value* text = meta::FindField(schema, "description"); text && text->is_string()) {
    const std::string_view all = text->get_string();
    const std::string_view kept = all.substr(0, all.find(kHeader));
    if (kept.size() < all.size()) *text = meta::json::string(kept.substr(0, kept.find_last_not_of(" \n\t") + 1));
  }
  for (auto& member : schema) RemoveEnumsFrom(member.value());
}

void RemoveEnumsFrom(meta::json::value& value) {
  if (value.is_object()) return RemoveEnums(value.get_object());
  if (!value.is_array()) return;
  for (meta::json::value& element : value.get_array()) RemoveEnumsFrom(element);
}

}  // namespace

OpenApiDocuments::OpenApiDocuments(std::vector<endpoint::ServedVersion>& versions, const std::string& descriptions_file,
                                   bool publishes_enums)
    : descriptions_(descriptions_file), publishes_enums_(publishes_enums) {
  // A document depends only on the schemas, which are part of the program, on the texts, and on the served resources.
  std::size_t schemas = std::hash<std::string_view>()(schema::BuiltinDescriptors());
  if (!descriptions_.Digest().empty()) schemas = schemas * 31 + std::hash<std::string>()(descriptions_.Digest());
  if (!publishes_enums_) schemas = schemas * 31 + 1;
  std::size_t all = schemas;
  for (endpoint::ServedVersion& served : versions) {
    const std::size_t own = std::hash<std::string>()(endpoint::VersionDiscoveryJson(served.version, served.resources));
    all = all * 31 + own;
    Version version;
    version.hash = fmt::format("{:016X}{:016X}", schemas, own);
    for (const endpoint::ServedResourcePtr& resource : served.resources)
      version.resources.push_back(Describe(resource->resource));
    served.openapi_v3_hash = version.hash;
    versions_[PathOf(served.version)] = std::move(version);
  }
  v2_hash_ = fmt::format("{:016X}", all);
}

SharedBytes OpenApiDocuments::Document(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const auto known = documents_.find(path);
  if (known != documents_.end()) return known->second;
  meta::json::object document;
  if (path == kV2) {
    std::vector<schema::OpenApiResource> all;
    for (const auto& [name, version] : versions_)
      all.insert(all.end(), version.resources.begin(), version.resources.end());
    document = schema::OpenApiV2(all, schema::Builtin(), descriptions_.Read());
  } else {
    const std::string name = path.substr(kV3.size());
    const std::vector<schema::OpenApiResource>& resources = versions_.at(name).resources;
    const std::size_t first = name.find('/'), last = name.rfind('/');
    meta::GroupVersion version{first == last ? "" : name.substr(first + 1, last - first - 1), name.substr(last + 1)};
    document = schema::OpenApiV3(version, resources, schema::Builtin(), descriptions_.Read());
  }
  if (!publishes_enums_) RemoveEnums(document);
  SharedBytes bytes(codec::WriteJson(document));
  documents_[path] = bytes;
  return bytes;
}

Task<mesh::Response> OpenApiDocuments::Answer(mesh::Request request) {
  std::string hash = v2_hash_;
  if (request.path != kV2) {
    const auto found =
        request.path.starts_with(kV3) ? versions_.find(request.path.substr(kV3.size())) : versions_.end();
    if (found == versions_.end()) co_return service::PlainNotFound();
    hash = found->second.hash;
  }
  const auto document = [this, &request] { return Document(request.path); };
  co_return endpoint::AnswerHashedDocument(request, hash, "application/json", document);
}

}  // namespace apimesh::core_api
