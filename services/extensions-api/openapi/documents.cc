#include "services/extensions-api/openapi/documents.h"

#include "lib/codec/codec.h"
#include "lib/schema/builtin.h"
#include "lib/schema/openapi/openapi.h"
#include "lib/service/chain.h"
#include "services/extensions-api/crd/crd_resource.h"
#include "services/extensions-api/crd/names.h"
#include "services/extensions-api/crd/version_rules.h"

namespace apimesh::extensions_api {
namespace {

namespace json = meta::json;
using schema::OpenApiResource;

constexpr std::string_view kV3 = "/openapi/v3/apis/";

bool Flag(const json::object& object, std::string_view name) {
  const json::value* value = meta::FindField(object, name);
  return value && value->is_bool() && value->get_bool();
}

using ServedPtr = std::shared_ptr<const ServedDefinitions>;
using DescriptionsPtr = std::shared_ptr<const schema::Descriptions>;

/// Documents and the references to them.
struct Collected {
  std::vector<std::unique_ptr<meta::Object>> definitions;
  std::vector<OpenApiResource> resources;
};

OpenApiResource OwnResource(const Clock& clock) {
  const registry::Resource crd = CrdResource(clock);
  OpenApiResource own{crd.gvk, crd.plural, false, crd.verbs, {}};
  own.subresources.push_back({"status", crd.gvk, {meta::Verb::kGet, meta::Verb::kPatch, meta::Verb::kUpdate}});
  return own;
}

void AddVersions(const meta::Object& crd, Collected& all) {
  Names names = ReadNames(crd, "status", "acceptedNames");
  if (names.plural.empty()) names = ReadNames(crd, "spec", "names");  // the status is about to be written
  for (const json::object* version : Versions(crd)) {
    if (!Flag(*version, "served")) continue;
    OpenApiResource resource;
    resource.kind = {std::string(meta::FindString(crd.Root(), "spec", "group")),
                     std::string(meta::FindString(*version, "name")), names.kind};
    resource.plural = names.plural;
    resource.list_kind = names.list_kind;
    resource.namespaced = meta::FindString(crd.Root(), "spec", "scope") == "Namespaced";
    resource.verbs = meta::kStoredResourceVerbs;
    if (meta::Find(*version, "subresources", "status"))
      resource.subresources.push_back(
          {"status", resource.kind, {meta::Verb::kGet, meta::Verb::kPatch, meta::Verb::kUpdate}});
    if (meta::Find(*version, "subresources", "scale")) {
      resource.subresources.push_back(
          {"scale", {"autoscaling", "v1", "Scale"}, {meta::Verb::kGet, meta::Verb::kPatch, meta::Verb::kUpdate}});
    }
    static const json::object any{{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
    const json::value* openapi = meta::Find(*version, "schema", "openAPIV3Schema");
    resource.custom_schema = openapi && openapi->is_object() ? &openapi->get_object() : &any;
    all.resources.push_back(std::move(resource));
  }
}

/// The definitions in the store that are served. Their status may not be written yet. A document must not be made of
/// only a part of them, because the aggregator keeps it.
Task<meta::Result<Collected>> Collect(storage::StorePtr crds, ServedPtr served, OpenApiResource own) {
  Collected all;
  all.resources.push_back(std::move(own));
  const meta::RequestContext ctx;
  const storage::ListOptions options{.resource_version = "0"};
  const meta::Result<std::unique_ptr<storage::ListCursor>> cursor = co_await crds->List(ctx, options);
  if (!cursor) co_return cursor.error();
  for (;;) {
    const std::vector<storage::EntryPtr> some = (*cursor)->Next(64);
    if (some.empty()) break;
    for (const storage::EntryPtr& entry : some) {
      meta::Result<json::value> value = codec::ParseJson(entry->Json().View(), meta::NewArena());
      if (!value || !value->is_object()) continue;
      all.definitions.push_back(std::make_unique<meta::Object>(std::move(value->get_object())));
      const meta::Object& crd = *all.definitions.back();
      if (served->Contains(std::string(crd.Name()), crd.Uid())) AddVersions(crd, all);
    }
  }
  co_return all;
}

Task<mesh::Response> AnswerV2(storage::StorePtr crds, ServedPtr served, OpenApiResource own,
                              DescriptionsPtr descriptions) {
  const meta::Result<Collected> all = co_await Collect(std::move(crds), std::move(served), std::move(own));
  if (!all) co_return mesh::Response::Error(all.error());
  const json::object document = schema::OpenApiV2(all->resources, schema::Builtin(), descriptions->Read());
  co_return mesh::Response::Json(200, codec::WriteJson(document));
}

Task<mesh::Response> AnswerV3(storage::StorePtr crds, ServedPtr served, OpenApiResource own,
                              DescriptionsPtr descriptions, std::string path) {
  const meta::GroupVersion version = meta::GroupVersion::Parse(std::string_view(path).substr(kV3.size()));
  meta::Result<Collected> all = co_await Collect(std::move(crds), std::move(served), std::move(own));
  if (!all) co_return mesh::Response::Error(all.error());
  std::erase_if(all->resources, [&version](const OpenApiResource& one) { return one.kind.Version() != version; });
  if (all->resources.empty()) co_return service::PlainNotFound();
  const json::object document = schema::OpenApiV3(version, all->resources, schema::Builtin(), descriptions->Read());
  co_return mesh::Response::Json(200, codec::WriteJson(document));
}

}  // namespace

std::map<std::string, endpoint::PathHandler> OpenApiPaths(storage::StorePtr crds, ServedPtr served,
                                                          DescriptionsPtr descriptions, const Clock& clock) {
  std::map<std::string, endpoint::PathHandler> paths;
  const OpenApiResource own = OwnResource(clock);
  paths["/openapi/v2"] = [crds, served, own, descriptions](mesh::Request) {
    return AnswerV2(crds, served, own, descriptions);
  };
  paths[std::string(kV3)] = [crds, served, own, descriptions](mesh::Request request) {
    return AnswerV3(crds, served, own, descriptions, std::move(request.path));
  };
  return paths;
}

}  // namespace apimesh::extensions_api
