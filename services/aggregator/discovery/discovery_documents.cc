#include "services/aggregator/discovery/discovery_documents.h"

#include <openssl/sha.h>

#include "lib/base/hex.h"
#include "services/aggregator/discovery/versions.h"

namespace apimesh::aggregator {
namespace {

namespace json = boost::json;
using GroupVersion = rpc::GroupVersionDescription;

std::string Quoted(std::string_view text) { return json::serialize(json::string_view(text.data(), text.size())); }

std::string UpperHexSha512(std::string_view text) {
  unsigned char digest[SHA512_DIGEST_LENGTH];
  SHA512(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  return UpperHex(digest);
}

DiscoveryDocuments::Document Write(std::string text) {
  text += '\n';
  DiscoveryDocuments::Document document;
  document.json = SharedBytes(std::move(text));
  return document;
}

DiscoveryDocuments::Document WriteWithEtag(std::string text) {
  DiscoveryDocuments::Document document = Write(std::move(text));
  document.etag = '"' + UpperHexSha512(document.json.View()) + '"';
  return document;
}

struct Group {
  std::string name;
  int priority = 0;
  std::vector<const GroupVersion*> versions;  // best first
};

// Groups by priority, then name; the versions of each by priority, then by age of the API.
std::vector<Group> SortedGroups(const Routes& routes) {
  std::map<std::string, Group> by_name;
  for (std::size_t i = 0; i < routes.delegates.size(); ++i) {
    const auto& description = routes.delegates[i].description;
    if (!description) continue;
    for (const GroupVersion& gv : description->group_versions) {
      const auto owner = routes.by_group_version.find(gv.group + "/" + gv.version);
      if (owner == routes.by_group_version.end() || owner->second != i) continue;  // someone before it in the chain has it
      Group& group = by_name[gv.group];
      group.name = gv.group;
      group.priority = std::max(group.priority, gv.group_priority_minimum);
      group.versions.push_back(&gv);
    }
  }
  std::vector<Group> groups;
  for (auto& [name, group] : by_name) {
    std::sort(group.versions.begin(), group.versions.end(), [](const GroupVersion* a, const GroupVersion* b) {
      if (a->version_priority != b->version_priority) return a->version_priority > b->version_priority;
      return VersionComesBefore(a->version, b->version);
    });
    groups.push_back(std::move(group));
  }
  std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.priority > b.priority; });
  return groups;
}

// The fields of an APIGroup, without its own kind.
std::string GroupFields(const Group& group) {
  const auto version = [&group](const GroupVersion& gv) {
    return fmt::format(R"({{"groupVersion":{},"version":{}}})", Quoted(group.name + "/" + gv.version), Quoted(gv.version));
  };
  std::string versions;
  for (const GroupVersion* gv : group.versions) versions += (versions.empty() ? "" : ",") + version(*gv);
  return fmt::format(R"("name":{},"versions":[{}],"preferredVersion":{})", Quoted(group.name), versions, version(*group.versions.front()));
}

std::string AggregatedGroup(const Group& group) {
  std::string versions;
  for (const GroupVersion* gv : group.versions) {
    if (!gv->aggregated_discovery.empty()) versions += (versions.empty() ? "" : ",") + gv->aggregated_discovery;
  }
  const std::string name = group.name.empty() ? "" : fmt::format(R"("name":{})", Quoted(group.name));
  return fmt::format(R"({{"metadata":{{{}}},"versions":[{}]}})", name, versions);
}

std::string AggregatedList(const std::string& items) {
  return fmt::format(R"({{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{{}},"items":[{}]}})", items);
}

}  // namespace

DiscoveryDocuments::DiscoveryDocuments(const Routes& routes, const std::string& server_address) {
  std::string core_versions, group_list, aggregated_core, aggregated_groups, openapi;
  const auto append = [](std::string& list, const std::string& item) { list += (list.empty() ? "" : ",") + item; };
  for (const Group& group : SortedGroups(routes)) {
    const bool core = group.name.empty();
    for (const GroupVersion* gv : group.versions) {
      const std::string path = core ? "api/" + gv->version : "apis/" + group.name + "/" + gv->version;
      // Servers outside the mesh are asked themselves.
      const Delegate& owner = routes.delegates[routes.by_group_version.at(gv->group + "/" + gv->version)];
      if (owner.kind != Delegate::Kind::kExternal) documents_["/" + path] = Write(gv->resource_list);
      if (core) append(core_versions, Quoted(gv->version));
      if (!gv->openapi_v3_hash.empty()) {
        append(openapi, fmt::format(R"({}:{{"serverRelativeURL":{}}})", Quoted(path),
                                    Quoted(fmt::format("/openapi/v3/{}?hash={}", path, gv->openapi_v3_hash))));
      }
    }
    append(core ? aggregated_core : aggregated_groups, AggregatedGroup(group));
    if (core) continue;
    append(group_list, "{" + GroupFields(group) + "}");
    documents_["/apis/" + group.name] = Write(fmt::format(R"({{"kind":"APIGroup","apiVersion":"v1",{}}})", GroupFields(group)));
  }
  documents_["/api"] = Write(fmt::format(
      R"({{"kind":"APIVersions","versions":[{}],"serverAddressByClientCIDRs":[{{"clientCIDR":"0.0.0.0/0","serverAddress":{}}}]}})",
      core_versions, Quoted(server_address)));
  documents_["/apis"] = Write(fmt::format(R"({{"kind":"APIGroupList","apiVersion":"v1","groups":[{}]}})", group_list));
  aggregated_core_ = WriteWithEtag(AggregatedList(aggregated_core));
  aggregated_groups_ = WriteWithEtag(AggregatedList(aggregated_groups));
  openapi_index_ = WriteWithEtag(fmt::format(R"({{"paths":{{{}}}}})", openapi));
}

const DiscoveryDocuments::Document* DiscoveryDocuments::Find(const std::string& path) const {
  const auto found = documents_.find(path);
  return found == documents_.end() ? nullptr : &found->second;
}

std::vector<std::string> DiscoveryDocuments::Paths() const {
  std::vector<std::string> paths;
  for (const auto& [path, document] : documents_) paths.push_back(path);
  return paths;
}

DiscoveryForm NegotiateDiscovery(std::string_view accept) {
  while (!accept.empty()) {
    const std::size_t comma = accept.find(',');
    const std::string_view item = accept.substr(0, comma);
    accept = comma == std::string_view::npos ? std::string_view() : accept.substr(comma + 1);
    const bool aggregated = item.find("as=APIGroupDiscoveryList") != std::string_view::npos &&
                            item.find("g=apidiscovery.k8s.io") != std::string_view::npos &&
                            item.find("application/json") != std::string_view::npos;
    if (aggregated && item.find("v=v2") != std::string_view::npos && item.find("v=v2beta1") == std::string_view::npos) {
      return DiscoveryForm::kAggregatedV2;
    }
    if (!aggregated && (item.find("application/json") != std::string_view::npos || item.find("*/*") != std::string_view::npos)) break;
  }
  return DiscoveryForm::kLegacy;
}

}  // namespace apimesh::aggregator
