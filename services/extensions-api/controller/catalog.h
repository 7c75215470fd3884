#pragma once

#include <map>
#include <set>
#include <string>

#include "lib/endpoint/group_server.h"
#include "services/extensions-api/crd/names.h"
#include "services/extensions-api/custom_resources/custom_resource.h"

namespace apimesh::extensions_api {

/// The definitions that are known and what is served of them. Not thread-safe.
class Catalog {
 public:
  explicit Catalog(CustomSources sources) : sources_(std::move(sources)) {}

  /// Takes over a new state of a definition; resources are made anew only where its spec or its names changed. True: what is served changed.
  bool Put(const meta::Object& crd);
  bool Remove(const std::string& name);
  std::set<std::string> Names() const;

  /// Names that other definitions of the group hold.
  TakenNames TakenBy(const std::string& group, const std::string& except) const;
  /// Definitions of the group that lack a name, apart from one.
  std::vector<std::string> Conflicted(const std::string& group, const std::string& except) const;
  std::string GroupOf(const std::string& name) const;
  /// Where the objects of a definition are; nullptr if it was never served.
  endpoint::ServedResourcePtr StorageOf(const std::string& name) const;

  /// All served versions, with the priorities of custom resources.
  std::vector<endpoint::ServedVersion> Served() const;

 private:
  struct Known {
    std::string group;
    apimesh::extensions_api::Names accepted;
    bool conflicted = false;
    bool terminating = false;
    bool established = false;
    std::size_t fingerprint = 0;  // of spec and accepted names
    std::vector<CustomVersion> versions;
  };

  CustomSources sources_;
  std::map<std::string, Known> known_;
};

}  // namespace apimesh::extensions_api
