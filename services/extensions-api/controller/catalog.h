#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "lib/endpoint/group_server.h"
#include "services/extensions-api/controller/served_definitions.h"
#include "services/extensions-api/crd/names.h"
#include "services/extensions-api/custom_resources/custom_resource.h"

namespace apimesh::extensions_api {

/// The known definitions and the resources that are served for them. Not thread-safe.
class Catalog {
 public:
  explicit Catalog(CustomSources sources) : sources_(std::move(sources)) {}

  /// Updates a definition. Its resources are created again only if its spec or its accepted names have changed. Returns
  /// true if the served resources have changed.
  bool Put(const meta::Object& crd);
  bool Remove(const std::string& name);
  std::set<std::string> Names() const;

  /// Returns the names that other definitions of the group hold.
  TakenNames NamesTakenByOthers(const std::string& group, const std::string& except) const;
  /// Returns the other definitions of the group that lack a name.
  std::vector<std::string> DefinitionsLackingNames(const std::string& group, const std::string& except) const;
  std::string GroupOf(const std::string& name) const;
  /// Returns the uid of a definition and the resources that are served for it; nullopt if it is not known.
  std::optional<ServedDefinition> Describe(const std::string& name) const;
  /// Returns the resource that stores the objects of a definition; nullptr if it was never served.
  endpoint::ServedResourcePtr StorageOf(const std::string& name) const;

  /// Returns the resources whose names are accepted, but whose conversion webhook has an invalid caBundle.
  std::set<meta::Gvr> Unresolvable() const;
  /// Returns all served versions with the priorities of custom resources.
  std::vector<endpoint::ServedVersion> Served() const;

 private:
  struct Known {
    std::string group, uid;
    apimesh::extensions_api::Names accepted;
    bool conflicted = false;
    bool terminating = false;
    bool established = false;
    std::size_t fingerprint = 0;  // hash of the spec and the accepted names
    std::vector<CustomVersion> versions;
    std::vector<meta::Gvr> unresolvable;
  };

  /// Must be called after the versions of a definition have changed.
  void ServeGroup(const std::string& group);

  CustomSources sources_;
  std::map<std::string, Known> known_;
  std::map<std::string, std::set<std::string>> by_group_;  // the names of the definitions of a group
  /// What Served() returns. Only the group of a definition that changes is computed again.
  std::map<meta::GroupVersion, endpoint::ServedVersion> served_;
};

}  // namespace apimesh::extensions_api
