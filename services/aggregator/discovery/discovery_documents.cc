#include "services/aggregator/discovery/discovery_documents.h"

#include <algorithm>

#include <openssl/sha.h>

#include "lib/base/hash/hex.h"
#include "lib/base/text/version_order.h"

namespace apimesh::aggregator {

/// The versions of one group, highest priority first, and whether a server outside the mesh serves them.
struct DiscoveredGroup {
  struct Version {
    mesh::GroupVersionPtr description;
    bool external = false;
    bool unreachable = false;  // see ServedGroupVersion
    /// Whether the edge has a document with the resources of the version.
    bool HasList() const { return !external && !unreachable; }
    bool operator==(const Version&) const = default;
  };
  std::string_view name;
  int priority = 0;
  std::vector<Version> versions;
};

namespace {

namespace json = boost::json;
using GroupVersion = mesh::GroupVersionDescription;

std::string Quoted(std::string_view text) { return json::serialize(json::string_view(text.data(), text.size())); }

std::string UpperHexSha512(std::string_view text) {
  unsigned char digest[SHA512_DIGEST_LENGTH];
  SHA512(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  return UpperHex(digest);
}

std::string Sha256(std::string_view text) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  return {reinterpret_cast<const char*>(digest), sizeof(digest)};
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

constexpr std::string_view kGroupHead = R"({"kind":"APIGroup","apiVersion":"v1",)";

void AppendItem(std::string& list, std::string_view item) {
  if (!list.empty()) list += ',';
  list += item;
}

// Sorts groups by priority, then by name, and the versions of each group by priority, then as
// VersionComesBefore().
std::vector<DiscoveredGroup> SortedGroups(const Routes& routes) {
  std::vector<DiscoveredGroup> groups;
  // The keys are "group/version", so the versions of a group follow each other.
  for (const auto& [key, served] : routes.by_group_version) {
    const GroupVersion& gv = *served.description;
    if (groups.empty() || groups.back().name != gv.group) groups.push_back({gv.group, 0, {}});
    groups.back().priority = std::max(groups.back().priority, gv.group_priority_minimum);
    // An extension server that is not available answers with 503, also for discovery.
    const Delegate::Kind kind = routes.delegates[served.delegate].kind;
    const bool external = kind == Delegate::Kind::kExternal ||
                          (kind == Delegate::Kind::kExtension && served.description->resource_list.empty());
    groups.back().versions.push_back({served.description, external, served.unreachable});
  }
  for (DiscoveredGroup& group : groups) {
    const auto before = [](const DiscoveredGroup::Version& one, const DiscoveredGroup::Version& other) {
      const GroupVersion &a = *one.description, &b = *other.description;
      if (a.version_priority != b.version_priority) return a.version_priority > b.version_priority;
      return VersionComesBefore(a.version, b.version);
    };
    std::sort(group.versions.begin(), group.versions.end(), before);
  }
  std::sort(groups.begin(), groups.end(), [](const DiscoveredGroup& a, const DiscoveredGroup& b) {
    return a.priority != b.priority ? a.priority > b.priority : a.name < b.name;
  });
  return groups;
}

// The fields of an APIGroup except kind and apiVersion.
std::string GroupFields(const DiscoveredGroup& group) {
  const auto version = [&group](const GroupVersion& gv) {
    return fmt::format(R"({{"groupVersion":{},"version":{}}})", Quoted(fmt::format("{}/{}", group.name, gv.version)),
                       Quoted(gv.version));
  };
  std::string versions;
  for (const DiscoveredGroup::Version& one : group.versions) AppendItem(versions, version(*one.description));
  return fmt::format(R"("name":{},"versions":[{}],"preferredVersion":{})", Quoted(group.name), versions,
                     version(*group.versions.front().description));
}

std::string AggregatedGroup(std::string_view group, const std::vector<DiscoveredGroup::Version>& all) {
  std::string versions;
  for (const DiscoveredGroup::Version& one : all) {
    if (!one.description->aggregated_discovery.empty()) AppendItem(versions, one.description->aggregated_discovery);
  }
  const std::string name = group.empty() ? "" : fmt::format(R"("name":{})", Quoted(group));
  return fmt::format(R"({{"metadata":{{{}}},"versions":[{}]}})", name, versions);
}

}  // namespace

/// The documents of one group.
struct DiscoveryDocuments::Group {
  std::string name;
  std::vector<DiscoveredGroup::Version> versions;  // what the documents were made from
  Document document;                               // /apis/<group>; none for the core group
  /// One per version; empty for servers outside the mesh, to which requests for these documents are forwarded, and for
  /// versions that cannot be reached.
  std::vector<Document> lists;
  std::string digest;  // of the group in aggregated discovery

  explicit Group(const DiscoveredGroup& from) : name(from.name), versions(from.versions) {
    if (!name.empty()) document = Write(fmt::format("{}{}}}", kGroupHead, GroupFields(from)));
    for (const DiscoveredGroup::Version& one : versions)
      lists.push_back(one.HasList() ? Write(one.description->resource_list) : Document());
    digest = Sha256(AggregatedGroup(name, versions));
  }
  /// The path of a version, without the first slash.
  std::string PathOf(const GroupVersion& gv) const {
    return name.empty() ? "api/" + gv.version : "apis/" + name + "/" + gv.version;
  }
  /// The group as an element of APIGroupList.groups.
  std::string ListItem() const {
    const std::string_view text = document.json.View();  // ends with a line break
    return fmt::format("{{{}", text.substr(kGroupHead.size(), text.size() - kGroupHead.size() - 1));
  }
};

DiscoveryDocuments::DiscoveryDocuments(const Routes& routes, const std::string& server_address,
                                       const DiscoveryDocuments* before)
    : server_address_(server_address), complete_(routes.DescribesChain()) {
  const std::vector<DiscoveredGroup> sorted = SortedGroups(routes);
  groups_.reserve(sorted.size());
  by_name_.reserve(sorted.size());
  for (const DiscoveredGroup& group : sorted) {
    GroupPtr made;
    if (before) {
      const auto known = before->by_name_.find(group.name);
      if (known != before->by_name_.end() && known->second->versions == group.versions) made = known->second;
    }
    if (!made) made = std::make_shared<const Group>(group);
    by_name_.emplace(made->name, made);
    groups_.push_back(std::move(made));
  }
}

const DiscoveryDocuments::Document* DiscoveryDocuments::Find(std::string_view path) const {
  if (path == "/api") {
    return &Built(versions_, [this] {
      std::string versions;
      if (const auto core = by_name_.find(""); core != by_name_.end()) {
        for (const DiscoveredGroup::Version& one : core->second->versions)
          AppendItem(versions, Quoted(one.description->version));
      }
      return Write(fmt::format(
          R"({{"kind":"APIVersions","versions":[{}],"serverAddressByClientCIDRs":[{{"clientCIDR":"0.0.0.0/0","serverAddress":{}}}]}})",
          versions, Quoted(server_address_)));
    });
  }
  if (path == "/apis") {
    return &Built(group_list_, [this] {
      std::string groups;
      for (const GroupPtr& group : groups_) {
        if (!group->name.empty()) AppendItem(groups, group->ListItem());
      }
      return Write(fmt::format(R"({{"kind":"APIGroupList","apiVersion":"v1","groups":[{}]}})", groups));
    });
  }
  const bool core = path.starts_with("/api/");
  if (!core && !path.starts_with("/apis/")) return nullptr;
  path.remove_prefix(core ? 5 : 6);
  const std::size_t slash = core ? 0 : path.find('/');
  const auto group = by_name_.find(core ? std::string_view() : path.substr(0, slash));
  if (group == by_name_.end() || (!core && group->first.empty())) return nullptr;
  if (slash == std::string_view::npos) return &group->second->document;
  if (!core) path.remove_prefix(slash + 1);
  for (std::size_t i = 0; i < group->second->versions.size(); ++i) {
    const DiscoveredGroup::Version& one = group->second->versions[i];
    if (one.description->version == path) return one.HasList() ? &group->second->lists[i] : nullptr;
  }
  return nullptr;
}

bool DiscoveryDocuments::IsForwarded(std::string_view path) const {
  const auto slashes = std::count(path.begin(), path.end(), '/');
  const bool discovery =
      path.starts_with("/apis/") ? slashes == 2 || slashes == 3 : path.starts_with("/api/") && slashes == 2;
  if (!discovery || !complete_) return true;
  for (const GroupPtr& group : groups_) {
    for (const DiscoveredGroup::Version& one : group->versions) {
      if (one.external && path.substr(1) == group->PathOf(*one.description)) return true;
    }
  }
  return false;
}

DiscoveryDocuments::Document DiscoveryDocuments::Aggregated(bool core) const {
  std::string items, digests;
  for (const GroupPtr& group : groups_) {
    if (group->name.empty() != core) continue;
    AppendItem(items, AggregatedGroup(group->name, group->versions));
    digests += group->digest;
  }
  Document document = Write(fmt::format(
      R"({{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{{}},"items":[{}]}})",
      items));
  document.etag = '"' + UpperHexSha512(digests) + '"';
  return document;
}

const DiscoveryDocuments::Document& DiscoveryDocuments::AggregatedCore() const {
  return Built(aggregated_core_, [this] { return Aggregated(true); });
}

const DiscoveryDocuments::Document& DiscoveryDocuments::AggregatedGroups() const {
  return Built(aggregated_groups_, [this] { return Aggregated(false); });
}

const DiscoveryDocuments::Document& DiscoveryDocuments::OpenApiIndex() const {
  return Built(openapi_index_, [this] {
    std::string paths;
    for (const GroupPtr& group : groups_) {
      for (const DiscoveredGroup::Version& one : group->versions) {
        const GroupVersion& gv = *one.description;
        if (gv.openapi_v3_hash.empty()) continue;
        const std::string path = group->PathOf(gv);
        AppendItem(paths, fmt::format(R"({}:{{"serverRelativeURL":{}}})", Quoted(path),
                                      Quoted(fmt::format("/openapi/v3/{}?hash={}", path, gv.openapi_v3_hash))));
      }
    }
    return WriteWithEtag(fmt::format(R"({{"paths":{{{}}}}})", paths));
  });
}

std::vector<std::string> DiscoveryDocuments::Paths() const {
  std::vector<std::string> paths = {"/api", "/apis"};
  for (const GroupPtr& group : groups_) {
    if (!group->name.empty()) paths.push_back("/apis/" + group->name);
    for (const DiscoveredGroup::Version& one : group->versions) {
      if (one.HasList()) paths.push_back("/" + group->PathOf(*one.description));
    }
  }
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
    if (!aggregated &&
        (item.find("application/json") != std::string_view::npos || item.find("*/*") != std::string_view::npos))
      break;
  }
  return DiscoveryForm::kLegacy;
}

}  // namespace apimesh::aggregator
