#pragma once

#include <set>
#include <string>
#include <vector>

#include "lib/base/clock.h"
#include "lib/meta/object.h"

/// Decides which names of a CustomResourceDefinition are accepted. A name belongs to the first definition of a group
/// that requested it.
namespace apimesh::extensions_api {

struct Names {
  std::string plural, singular, kind, list_kind;
  std::vector<std::string> short_names, categories;
  bool operator==(const Names&) const = default;
};
/// Reads spec.names or status.acceptedNames.
Names ReadNames(const meta::Object& crd, std::string_view parent, std::string_view field);

/// The names that other definitions of the same group hold.
struct TakenNames {
  std::set<std::string> resources;
  std::set<std::string> kinds;
  void Add(const Names& accepted);
};

/// Updates status.acceptedNames and the conditions NamesAccepted, Established, NonStructuralSchema and
/// KubernetesAPIApprovalPolicyConformant. A definition whose names are accepted becomes Established in the same step,
/// so the caller must serve it before it writes the status. With a `delay`, it is Installing until its names have been
/// accepted for that time, so that all replicas serve it before a client sees Established. Returns true if something
/// changed.
bool UpdateStatus(meta::Object& crd, const TakenNames& taken, WallTime now, Duration delay = {});

/// Returns whether the objects of the definition are served: it is Established, or it is Installing.
bool IsServed(const meta::Object& crd);
bool IsInstalling(const meta::Object& crd);

}  // namespace apimesh::extensions_api
