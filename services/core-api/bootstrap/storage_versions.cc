#include "services/core-api/bootstrap/storage_versions.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "lib/base/log.h"
#include "lib/codec/codec.h"
#include "lib/meta/equal.h"
#include "lib/meta/time.h"
#include "services/core-api/resources/table.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

constexpr const char* kObjects = "/apis/internal.apiserver.k8s.io/v1alpha1/storageversions";

std::string NameOf(const meta::Gvr& resource) {
  return fmt::format("{}.{}", resource.group.empty() ? "core" : resource.group, resource.resource);
}

json::array Texts(const std::vector<std::string>& texts) { return json::array(texts.begin(), texts.end()); }

void AddOnce(std::vector<std::string>& list, std::string text) {
  if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(std::move(text));
}

/// Returns the version that all servers encode with; "" if they differ.
std::string CommonVersion(const json::array& servers) {
  std::set<std::string_view> versions;
  for (const json::value& server : servers) {
    if (server.is_object()) versions.insert(meta::FindString(server.get_object(), "encodingVersion"));
  }
  return versions.size() == 1 ? std::string(*versions.begin()) : "";
}

/// Sets the condition. The time changes with its status, and with the common version.
void SetCondition(json::object& status, const std::string& common, bool version_changed, std::int64_t generation,
                  WallTime now) {
  const bool equal = !common.empty();
  json::object wanted{{"type", "AllEncodingVersionsEqual"},
                      {"status", equal ? "True" : "False"},
                      {"reason", equal ? "CommonEncodingVersionSet" : "CommonEncodingVersionUnset"},
                      {"message", equal ? "Common encoding version set" : "Common encoding version unset"}};
  if (generation != 0) wanted["observedGeneration"] = generation;
  wanted["lastTransitionTime"] = meta::FormatTime(now);
  json::value& list = status["conditions"];
  if (!list.is_array()) list.emplace_array();
  for (json::value& one : list.get_array()) {
    if (!one.is_object() || meta::FindString(one.get_object(), "type") != "AllEncodingVersionsEqual") continue;
    const bool same = meta::FindString(one.get_object(), "status") == meta::FindString(wanted, "status");
    if (same && !version_changed)
      wanted["lastTransitionTime"] = std::string(meta::FindString(one.get_object(), "lastTransitionTime"));
    one = std::move(wanted);
    return;
  }
  list.get_array().emplace_back(std::move(wanted));
}

Task<> WriteOne(LocalApiPtr api, std::string server, StoredResource resource) {
  const std::string path = fmt::format("{}/{}", kObjects, resource.name);
  meta::Result<meta::Object> found = co_await api->Get(path);
  if (!found && found.error().Is(meta::Reason::kNotFound)) {
    json::object object;
    object["apiVersion"] = "internal.apiserver.k8s.io/v1alpha1";
    object["kind"] = "StorageVersion";
    object["metadata"] = {{"name", resource.name}};
    object["spec"] = json::object();
    found = co_await api->Create(kObjects, meta::Object(std::move(object)));
  }
  if (!found) {
    log::Warning("{}: {}", path, found.error().Message());
    co_return;
  }
  if (!SetServerVersions(resource, server, api->GetClock().Now(), *found)) co_return;
  const meta::Result<meta::Object> written = co_await api->Update(path + "/status", std::move(*found));
  // Another server may have changed it at the same time.
  if (!written) log::Info("{}: {}", path, written.error().Message());
}

}  // namespace

std::vector<StoredResource> StoredResources(const std::vector<registry::Resource>& resources) {
  std::map<std::string, std::string> names;  // by what identifies the stored objects
  std::map<std::string, StoredResource> found;
  for (const registry::Resource& resource : resources) {
    if (resource.storage_prefix.empty() || resource.storage_gvk.kind.empty()) continue;
    const std::string& name = names.try_emplace(resource.storage_prefix, NameOf(resource.GetGvr())).first->second;
    StoredResource& stored = found[name];
    stored.name = name;
    stored.encoding_version = resource.storage_gvk.ApiVersion();
    if (NameOf(resource.GetGvr()) == name) stored.served_versions.push_back(resource.gvk.ApiVersion());
    AddOnce(stored.decodable_versions, stored.encoding_version);
    for (const ResourceRow& row : ResourceTable()) {
      if (row.group == resource.gvk.group && row.resource == resource.plural)
        AddOnce(stored.decodable_versions, meta::Gvk{row.group, row.version, ""}.ApiVersion());
    }
  }
  for (const auto& [name, version] :
       {std::pair("apiextensions.k8s.io.customresourcedefinitions", "apiextensions.k8s.io/v1"),
        std::pair("apiregistration.k8s.io.apiservices", "apiregistration.k8s.io/v1")}) {
    found[name] = {name, version, {version}, {version}};
  }
  std::vector<StoredResource> all;
  for (auto& [name, stored] : found) all.push_back(std::move(stored));
  return all;
}

bool SetServerVersions(const StoredResource& resource, std::string_view server, WallTime now, meta::Object& object) {
  const json::object before = object.Root();
  json::object& status = meta::MakeObject(object.Root(), "status");
  json::value& list = status["storageVersions"];
  if (!list.is_array()) list.emplace_array();
  json::array& servers = list.get_array();
  json::object own;
  own["apiServerID"] = server;
  own["encodingVersion"] = resource.encoding_version;
  own["decodableVersions"] = Texts(resource.decodable_versions);
  own["servedVersions"] = Texts(resource.served_versions);
  const auto is_own = [server](const json::value& one) {
    return one.is_object() && meta::FindString(one.get_object(), "apiServerID") == server;
  };
  const auto known = std::find_if(servers.begin(), servers.end(), is_own);
  if (known != servers.end()) {
    *known = std::move(own);
  } else {
    servers.emplace_back(std::move(own));
  }
  const std::string common = CommonVersion(servers), common_before(meta::FindString(status, "commonEncodingVersion"));
  if (common.empty()) {
    meta::EraseField(status, "commonEncodingVersion");
  } else {
    status["commonEncodingVersion"] = common;
  }
  const json::value* const generation = meta::Find(object.Root(), "metadata", "generation");
  const bool version_changed = !common.empty() && !common_before.empty() && common != common_before;
  SetCondition(status, common, version_changed, generation && generation->is_int64() ? generation->get_int64() : 0,
               now);
  return !meta::Equal(before, object.Root());
}

Task<> WriteStorageVersions(LocalApiPtr api, std::string server, std::vector<StoredResource> resources) {
  for (const StoredResource& resource : resources) {
    if (api->Stopped()) co_return;
    co_await WriteOne(api, server, resource);
  }
}

}  // namespace apimesh::core_api
