#pragma once

#include <set>
#include <string>
#include <vector>

#include "lib/base/clock.h"
#include "lib/meta/object.h"

/// Which names of a CustomResourceDefinition are accepted: a name belongs to the first definition of a group that asked for it.
namespace apimesh::extensions_api {

struct Names {
  std::string plural, singular, kind, list_kind;
  std::vector<std::string> short_names, categories;
  bool operator==(const Names&) const = default;
};
/// From spec.names or status.acceptedNames.
Names ReadNames(const meta::Object& crd, std::string_view parent, std::string_view field);

/// Names that other definitions of the same group hold.
struct TakenNames {
  std::set<std::string> resources;
  std::set<std::string> kinds;
  void Add(const Names& accepted);
};

/// Brings status.acceptedNames and the conditions NamesAccepted, Established, NonStructuralSchema and
/// KubernetesAPIApprovalPolicyConformant up to date. A definition whose names are accepted becomes Established in the same step:
/// who calls this serves it first. True: something changed.
bool UpdateStatus(meta::Object& crd, const TakenNames& taken, WallTime now);

}  // namespace apimesh::extensions_api
