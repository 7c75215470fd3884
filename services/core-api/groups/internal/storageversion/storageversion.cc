#include "services/core-api/groups/internal/storageversion/storageversion.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/meta/names.h"
#include "lib/registry/status_strategy.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/spec_fields.h"
#include "services/core-api/validation/texts.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

/// The name is that of a group and of a resource: "apps.deployments".
meta::Complaints CheckStorageVersionName(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == name.npos) return {"name must be in the form of <group>.<resource>"};
  meta::Complaints complaints;
  for (const std::string& one : meta::CheckDnsSubdomain(name.substr(0, dot))) {
    complaints.push_back("the group segment " + one);
  }
  for (const std::string& one : meta::CheckDns1035Label(name.substr(dot + 1))) {
    complaints.push_back("the resource segment " + one);
  }
  return complaints;
}

meta::Complaints CheckApiVersion(std::string_view text) {
  meta::Complaints complaints;
  const auto check = [&complaints](std::string_view part, std::string_view name, Check::Rule rule) {
    if (part.empty()) complaints.push_back(fmt::format("{} part: must be non-empty", name));
    if (part.empty()) return;
    for (const std::string& one : rule(part)) complaints.push_back(fmt::format("{} part: {}", name, one));
  };
  const std::size_t slash = text.find('/');
  if (slash != text.npos && text.find('/', slash + 1) != text.npos) {
    return {
        "an apiVersion is a DNS-1035 label, which must consist of lower case alphanumeric characters or '-', start "
        "with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex "
        "used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?') with an optional DNS subdomain prefix and '/' (e.g. "
        "'example.com/MyVersion')"};
  }
  if (slash != text.npos) check(text.substr(0, slash), "group", &meta::CheckDnsSubdomain);
  check(slash == text.npos ? text : text.substr(slash + 1), "version", &meta::CheckDns1035Label);
  return complaints;
}

void AddJoined(const Check& server, const meta::Path& path, std::string_view text) {
  const meta::Complaints complaints = CheckApiVersion(text);
  if (complaints.empty()) return;
  server.Add(meta::Invalid(path.ToString(), meta::Quoted(text), fmt::format("{}", fmt::join(complaints, ","))));
}

void ValidateServer(const Check& server) {
  const meta::Path& path = server.Path();
  CheckText(server, path.Child("apiServerID"), server.Text("apiServerID"), meta::CheckDnsSubdomain);
  const std::string_view encoding = server.Text("encodingVersion");
  AddJoined(server, path.Child("encodingVersion"), encoding);
  const std::vector<std::string_view> decodable = TextsOf(server, "decodableVersions");
  for (std::size_t i = 0; i < decodable.size(); ++i) {
    AddJoined(server, path.Child("decodableVersions").Index(i), decodable[i]);
  }
  const auto decodes = [&decodable](std::string_view version) {
    return std::find(decodable.begin(), decodable.end(), version) != decodable.end();
  };
  if (!decodes(encoding)) {
    server.Invalid("decodableVersions", fmt::format("decodableVersions must include encodingVersion {}", encoding));
  }
  const std::vector<std::string_view> served = TextsOf(server, "servedVersions");
  for (std::size_t i = 0; i < served.size(); ++i) {
    const meta::Path at = path.Child("servedVersions").Index(i);
    AddJoined(server, at, served[i]);
    if (decodes(served[i])) continue;
    server.Add(meta::Invalid(at.ToString(), meta::Quoted(served[i]),
                             fmt::format("individual served version : {} must be included in decodableVersions : [{}]",
                                         served[i], fmt::join(decodable, " "))));
  }
}

/// If all servers write the same version, commonEncodingVersion must be that version.
void ValidateCommonVersion(const Check& status) {
  std::set<std::string_view> versions;
  for (const Check& server : status.Each("storageVersions")) versions.insert(server.Text("encodingVersion"));
  const bool given = status.Has("commonEncodingVersion");
  if (versions.size() != 1) {
    if (given) {
      status.Invalid("commonEncodingVersion",
                     "should be nil if servers do not agree on the same encoding version, or if there is no server "
                     "reporting the supported versions yet");
    }
  } else if (!given) {
    status.Add(meta::Invalid("status.commonEncodingVersion", "null",
                             fmt::format("the common encoding version is {}", *versions.begin())));
  } else if (status.Text("commonEncodingVersion") != *versions.begin()) {
    status.Invalid("commonEncodingVersion", fmt::format("the actual common encoding version is {}", *versions.begin()));
  }
}

/// kube-apiserver reports the conditions at status[i].
void ValidateStorageConditions(const Check& status) {
  std::map<std::string_view, std::size_t> seen;
  std::size_t index = 0;
  for (const Check& condition : status.Each("conditions")) {
    const meta::Path path = status.Path().Index(index);
    const std::string_view type = condition.Text("type");
    if (const auto before = seen.find(type); before != seen.end()) {
      condition.Add(meta::Invalid(
          path.Child("type").ToString(), meta::Quoted(type),
          fmt::format("the type of the condition is not unique, it also appears in conditions[{}]", before->second)));
    }
    seen[type] = index++;
    CheckText(condition, path.Child("type"), type, meta::CheckQualifiedName);
    CheckText(condition, path.Child("status"), condition.Text("status"), meta::CheckQualifiedName);
    for (const char* field : {"reason", "message"}) {
      if (condition.Text(field).empty()) condition.Add(meta::Required(path.Child(field).ToString(), ""));
    }
  }
}

class StorageVersionStatusStrategy final : public registry::StatusStrategy {
 public:
  using StatusStrategy::StatusStrategy;
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object&) const override {
    meta::FieldErrors errors;
    const Check status = StatusOf(object, errors);
    std::set<std::string_view> ids;
    for (const Check& server : status.Each("storageVersions")) {
      const std::string_view id = server.Text("apiServerID");
      if (!ids.insert(id).second) {
        server.Add(meta::Duplicate(server.Path().Child("apiServerID").ToString(), meta::Quoted(id)));
      }
      ValidateServer(server);
    }
    ValidateCommonVersion(status);
    ValidateStorageConditions(status);
    return errors;
  }
};

class StorageVersionStrategy final : public registry::SpecStrategy {
 public:
  bool AllowUnconditionalUpdate() const override { return false; }
};

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  constexpr std::size_t kShown = 3;
  const auto servers = Objects(meta::Find(object.Root(), "status", "storageVersions"));
  std::string text;
  for (std::size_t i = 0; i < servers.size() && i < kShown; ++i) {
    text += fmt::format("{}{}={}", i == 0 ? "" : ",", meta::FindString(servers[i].get(), "apiServerID"),
                        meta::FindString(servers[i].get(), "encodingVersion"));
  }
  if (servers.size() > kShown) text += fmt::format(" + {} more...", servers.size() - kShown);
  return {json::string(object.Name()),
          TextCell(meta::FindString(object.Root(), "status", "commonEncodingVersion"), "<unset>"),
          TextCell(text, "<unset>"), AgeCell(object, ages)};
}

}  // namespace

registry::Resource StorageVersionResource(const KindInputs&) {
  registry::Resource resource =
      FromTable("internal.apiserver.k8s.io", "v1alpha1", "storageversions", std::make_shared<StorageVersionStrategy>());
  resource.validate_name = [](std::string_view name, bool) { return CheckStorageVersionName(name); };
  registry::Subresource& status = SubresourceOf(resource, "status");
  status.strategy = std::make_shared<StorageVersionStatusStrategy>(resource.strategy, registry::AllMetadata());
  status.reset_fields = registry::StatusResetFields(registry::AllMetadata());
  resource.table = {
      {NameColumn(),
       {.name = "CommonEncodingVersion", .description = "The version that all servers write."},
       {.name = "StorageVersions", .description = "The version that each server writes."},
       AgeColumn()},
      &Cells,
      {"metadata.name", "metadata.creationTimestamp", "status.commonEncodingVersion", "status.storageVersions"}};
  return resource;
}

}  // namespace apimesh::core_api
