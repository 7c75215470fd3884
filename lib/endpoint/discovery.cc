#include "lib/endpoint/discovery.h"

#include <algorithm>

#include <openssl/sha.h>

#include "lib/base/text/base64.h"
#include "lib/codec/codec.h"

namespace apimesh::endpoint {
namespace {

namespace json = meta::json;
using registry::Resource;
using registry::Subresource;

constexpr std::size_t kHashBytes = 8;

template <class Range>
json::array Texts(const Range& range) {
  json::array out;
  for (const std::string_view text : range) out.emplace_back(text);
  return out;
}

std::vector<ServedResourcePtr> Sorted(std::vector<ServedResourcePtr> resources) {
  std::sort(resources.begin(), resources.end(), [](const ServedResourcePtr& a, const ServedResourcePtr& b) {
    return a->resource.plural < b->resource.plural;
  });
  return resources;
}

/// Returns the verbs in the order of kube-apiserver: sorted by name, except for custom resources, which have a fixed
/// order.
json::array VerbsOf(const ServedResource& served) {
  json::array verbs = Texts(served.resource.verbs.Names());
  if (!served.custom) return verbs;
  const auto create = std::find(verbs.begin(), verbs.end(), json::value("create"));
  const auto patch = std::find(verbs.begin(), verbs.end(), json::value("patch"));
  if (create < patch && patch != verbs.end()) std::rotate(create, create + 1, patch + 1);
  return verbs;
}

std::vector<Subresource> SortedSubresources(const ServedResource& served) {
  std::vector<Subresource> sorted = served.resource.subresources;
  if (served.custom) return sorted;
  std::sort(sorted.begin(), sorted.end(), [](const Subresource& a, const Subresource& b) { return a.name < b.name; });
  return sorted;
}

/// Adds the group and version of the body's kind if they differ from those of the resource.
void AddForeignVersion(json::object& out, const meta::Gvk& kind, const Resource& resource) {
  if (kind.kind.empty() || kind.Version() == resource.gvk.Version()) return;
  if (!kind.group.empty()) out["group"] = kind.group;
  out["version"] = kind.version;
}

std::string KindOf(const Subresource& subresource, const Resource& resource) {
  return subresource.kind.kind.empty() ? resource.gvk.kind : subresource.kind.kind;
}

void AppendResource(json::array& out, const ServedResource& served, bool storage_version_hash) {
  const Resource& resource = served.resource;
  const bool namespaced = resource.scope == registry::Scope::kNamespaced;
  json::object& one = out.emplace_back(json::object()).get_object();
  one["name"] = resource.plural;
  one["singularName"] = resource.singular;
  one["namespaced"] = namespaced;
  one["kind"] = resource.gvk.kind;
  one["verbs"] = VerbsOf(served);
  if (!resource.short_names.empty()) one["shortNames"] = Texts(resource.short_names);
  if (!resource.categories.empty()) one["categories"] = Texts(resource.categories);
  if (storage_version_hash && !resource.storage_gvk.kind.empty())
    one["storageVersionHash"] = StorageVersionHash(resource.storage_gvk);
  for (const Subresource& subresource : SortedSubresources(served)) {
    json::object& sub = out.emplace_back(json::object()).get_object();
    sub["name"] = resource.plural + "/" + subresource.name;
    sub["singularName"] = "";
    sub["namespaced"] = namespaced;
    AddForeignVersion(sub, subresource.kind, resource);
    sub["kind"] = KindOf(subresource, resource);
    sub["verbs"] = Texts(subresource.verbs.Names());
  }
}

/// kube-apiserver leaves the group and version of built-in kinds empty here, and sets them for custom resources.
json::object ResponseKind(const meta::Gvk& kind, const ServedResource& served) {
  const bool own = kind.Version() == served.resource.gvk.Version() && !served.custom;
  json::object out;
  out["group"] = own ? "" : kind.group;
  out["version"] = own ? "" : kind.version;
  out["kind"] = kind.kind;
  return out;
}

json::object DiscoveryOf(const ServedResource& served) {
  const Resource& resource = served.resource;
  json::object one;
  one["resource"] = resource.plural;
  one["responseKind"] = ResponseKind(resource.gvk, served);
  one["scope"] = resource.scope == registry::Scope::kNamespaced ? "Namespaced" : "Cluster";
  one["singularResource"] = resource.singular;
  one["verbs"] = VerbsOf(served);
  if (!resource.short_names.empty()) one["shortNames"] = Texts(resource.short_names);
  if (!resource.categories.empty()) one["categories"] = Texts(resource.categories);
  json::array subresources;
  for (const Subresource& subresource : SortedSubresources(served)) {
    json::object& sub = subresources.emplace_back(json::object()).get_object();
    sub["subresource"] = subresource.name;
    sub["responseKind"] = ResponseKind(subresource.kind.kind.empty() ? resource.gvk : subresource.kind, served);
    sub["verbs"] = Texts(subresource.verbs.Names());
  }
  if (!subresources.empty()) one["subresources"] = std::move(subresources);
  return one;
}

}  // namespace

std::string StorageVersionHash(const meta::Gvk& storage) {
  const std::string text = storage.group + "/" + storage.version + "/" + storage.kind;
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  return EncodeBase64(std::string_view(reinterpret_cast<const char*>(digest), kHashBytes));
}

std::string ResourceListJson(const meta::GroupVersion& version, const std::vector<ServedResourcePtr>& resources,
                             bool storage_version_hash) {
  json::object list;
  list["kind"] = "APIResourceList";
  if (!version.group.empty()) list["apiVersion"] = "v1";  // as in kube-apiserver, the list of the core group has none
  list["groupVersion"] = version.ToString();
  json::array& out = list["resources"].emplace_array();
  for (const ServedResourcePtr& served : Sorted(resources)) AppendResource(out, *served, storage_version_hash);
  return codec::WriteJson(list);
}

std::string VersionDiscoveryJson(const meta::GroupVersion& version, const std::vector<ServedResourcePtr>& resources) {
  json::object element;
  element["version"] = version.version;
  json::array& out = element["resources"].emplace_array();
  for (const ServedResourcePtr& served : Sorted(resources)) out.emplace_back(DiscoveryOf(*served));
  element["freshness"] = "Current";
  return codec::WriteJson(element);
}

}  // namespace apimesh::endpoint
