#include "services/aggregator/apiservices/external_discovery.h"

#include <map>

#include <fmt/format.h>

#include "lib/codec/codec.h"
#include "lib/meta/object.h"

namespace apimesh::aggregator {
namespace {

namespace json = meta::json;

constexpr std::size_t kMaxHashBytes = 1024;  // it is in a document for all clients; hashes have 128 digits

void CopyFields(const json::object& from, json::object& to, std::initializer_list<const char*> fields) {
  for (const char* field : fields) {
    if (const json::value* found = meta::FindField(from, field)) to[field] = *found;
  }
}

json::object ResponseKind(const json::object& resource, const Registration& registration) {
  const std::string_view group = meta::FindString(resource, "group"), version = meta::FindString(resource, "version");
  return {{"group", version.empty() ? std::string_view(registration.group) : group},
          {"version", version.empty() ? std::string_view(registration.version) : version},
          {"kind", meta::FindString(resource, "kind")}};
}

/// Converts an APIResourceList to an entry of aggregated discovery.
json::object Aggregated(const json::object& list, const Registration& registration) {
  std::vector<json::object> resources;
  std::map<std::string, std::size_t, std::less<>> places;
  const json::value* found = meta::FindField(list, "resources");
  if (found && found->is_array()) {
    for (const json::value& one : found->get_array()) {
      if (!one.is_object()) continue;
      const json::object& from = one.get_object();
      const std::string name(meta::FindString(from, "name"));
      const std::size_t slash = name.find('/');
      const auto [place, fresh] = places.try_emplace(name.substr(0, slash), resources.size());
      if (fresh) resources.push_back({{"resource", place->first}});
      json::object& to = resources[place->second];
      const json::value* namespaced = meta::FindField(from, "namespaced");
      if (slash == std::string::npos) {
        to["responseKind"] = ResponseKind(from, registration);
        to["scope"] = namespaced && *namespaced == true ? "Namespaced" : "Cluster";
        to["singularResource"] = meta::FindString(from, "singularName");
        CopyFields(from, to, {"verbs", "shortNames", "categories"});
      } else {
        json::object sub = {{"subresource", name.substr(slash + 1)},
                            {"responseKind", ResponseKind(from, registration)}};
        CopyFields(from, sub, {"verbs"});
        json::value& subresources = to["subresources"];
        if (!subresources.is_array()) subresources.emplace_array();
        subresources.get_array().push_back(std::move(sub));
      }
    }
  }
  json::array all;
  for (json::object& resource : resources) all.push_back(std::move(resource));
  return {{"version", registration.version}, {"resources", std::move(all)}, {"freshness", "Current"}};
}

}  // namespace

mesh::Description DescribeExternal(const Registration& registration, std::string resource_list,
                                   std::string openapi_hash) {
  mesh::GroupVersionDescription one;
  one.group = registration.group;
  one.version = registration.version;
  one.group_priority_minimum = registration.group_priority_minimum;
  one.version_priority = registration.version_priority;
  const meta::Result<json::value> list = codec::ParseJson(resource_list, meta::NewArena());
  if (list && list->is_object()) {
    one.aggregated_discovery = codec::WriteJson(Aggregated(list->get_object(), registration));
    one.resource_list = std::move(resource_list);
    one.openapi_v3_hash = std::move(openapi_hash);
  } else {
    one.aggregated_discovery =
        codec::WriteJson(json::object{{"version", registration.version}, {"freshness", "Stale"}});
  }
  mesh::Description description;
  description.etag = fmt::format("{:016x}", std::hash<std::string>()(one.aggregated_discovery + one.openapi_v3_hash));
  description.group_versions.push_back(std::make_shared<const mesh::GroupVersionDescription>(std::move(one)));
  return description;
}

std::string OpenApiHash(std::string_view index, const std::string& group, const std::string& version) {
  const meta::Result<json::value> parsed = codec::ParseJson(index, meta::NewArena());
  if (!parsed || !parsed->is_object()) return "";
  const std::string path = fmt::format("apis/{}/{}", group, version);
  const std::string_view url = meta::FindString(parsed->get_object(), "paths", path, "serverRelativeURL");
  const std::size_t mark = url.find("hash=");
  if (mark == std::string_view::npos || url.size() - mark > kMaxHashBytes) return "";
  return std::string(url.substr(mark + 5));
}

}  // namespace apimesh::aggregator
