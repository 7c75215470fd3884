#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_set>

#include "lib/meta/gvk.h"
#include "lib/meta/request/verb.h"
#include "lib/schema/openapi/descriptions.h"

namespace apimesh::mesh::v1 {
class Description;
}  // namespace apimesh::mesh::v1

namespace apimesh::aggregator {

/// The version of the contract that extension servers must implement.
inline constexpr int kContractVersion = 1;

/// What an extension server serves of one group-version, and the documents that the aggregator makes from it.
struct ExtensionResources {
  std::string resource_list;           // APIResourceList
  std::string openapi_v2, openapi_v3;  // empty if there are no resources
  std::string openapi_hash;
  struct Served {
    std::string kind;
    meta::VerbSet verbs;
  };
  std::map<std::string, Served, std::less<>> resources;  // "notes", "notes/status"
  /// The resources whose events may be shared by all clients.
  std::shared_ptr<const std::unordered_set<std::string>> shared_watches;
};
using ExtensionResourcesPtr = std::shared_ptr<const ExtensionResources>;

/// Why a description was refused, as in a condition.
struct Refusal {
  std::string reason, message;
};

/// Reads the resources of `version` from a description. The description is not trusted: names, verbs and schemas are
/// checked, and their numbers and sizes are limited. Returns nullptr and fills `refusal` if it is not valid.
ExtensionResourcesPtr ReadResources(const mesh::v1::Description& description, const meta::GroupVersion& version,
                                    const schema::DescriptionTexts& texts, Refusal& refusal);

}  // namespace apimesh::aggregator
