#include "services/object-check/stored_resources.h"

#include <algorithm>
#include <map>

#include "lib/base/text/text.h"

namespace apimesh::object_check {
namespace {

// The columns of the table.
enum Column { kGroup, kVersion, kResource, kKind, kScope, kStoragePrefix = 9, kStorageVersion = 10, kColumns = 12 };

std::vector<StoredResource> Parse() {
  std::map<std::string, StoredResource, std::less<>> by_prefix;
  for (const std::string_view line : Split(ResourceTableBytes(), '\n')) {
    const std::vector<std::string_view> row = Split(line, '\t');
    if (line.starts_with('#') || row.size() != kColumns || row[kGroup] == "group" || row[kStoragePrefix] == "-")
      continue;
    if (row[kResource].find('/') != std::string_view::npos) continue;  // a subresource
    const std::string group(row[kGroup] == "-" ? "" : row[kGroup]);
    StoredResource& stored = by_prefix[std::string(row[kStoragePrefix])];
    const meta::GroupVersion version{group, std::string(row[kVersion])};
    stored.versions.push_back(version.ToString());
    const meta::GroupVersion written = meta::GroupVersion::Parse(row[kStorageVersion]);
    if (stored.versions.size() > 1 && written.group != group) continue;  // events.k8s.io shares the storage of events
    stored.prefix = row[kStoragePrefix];
    stored.resource = {group, std::string(row[kResource])};
    stored.stored_kind = {written.group, written.version, std::string(row[kKind])};
    stored.namespaced = row[kScope] == "Namespaced";
  }
  std::vector<StoredResource> all;
  for (auto& [prefix, stored] : by_prefix) all.push_back(std::move(stored));
  return all;
}

}  // namespace

bool StoredResource::OnByDefault() const {
  return std::any_of(versions.begin(), versions.end(), [](const std::string& version) {
    return version.find("alpha") == std::string::npos && version.find("beta") == std::string::npos;
  });
}

const std::vector<StoredResource>& StoredResources() {
  static const std::vector<StoredResource> all = Parse();
  return all;
}

const StoredResource* FindStored(std::string_view path) {
  const std::vector<StoredResource>& all = StoredResources();
  const auto found = std::find_if(all.begin(), all.end(), [&](const StoredResource& stored) {
    return path.size() > stored.prefix.size() && path.starts_with(stored.prefix) && path[stored.prefix.size()] == '/';
  });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace apimesh::object_check
