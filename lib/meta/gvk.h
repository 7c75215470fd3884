#pragma once

#include <compare>
#include <string>
#include <string_view>

namespace apimesh::meta {

/// A group and a version: "apps/v1", or "v1" for the core group.
struct GroupVersion {
  std::string group;
  std::string version;

  std::string ToString() const { return group.empty() ? version : group + "/" + version; }
  /// "g/v" or "v". Text with more than one slash is stored in `version` unchanged, as kube-apiserver does for bad
  /// input.
  static GroupVersion Parse(std::string_view api_version);
  auto operator<=>(const GroupVersion&) const = default;
};

struct GroupResource {
  std::string group;
  std::string resource;

  /// "deployments.apps", or "pods" for the core group, as error messages show it.
  std::string ToString() const { return group.empty() ? resource : resource + "." + group; }
  auto operator<=>(const GroupResource&) const = default;
};

struct GroupKind {
  std::string group;
  std::string kind;

  /// "Deployment.apps", or "Pod".
  std::string ToString() const { return group.empty() ? kind : kind + "." + group; }
  auto operator<=>(const GroupKind&) const = default;
};

struct Gvk {
  std::string group;
  std::string version;
  std::string kind;

  GroupVersion Version() const { return {group, version}; }
  apimesh::meta::GroupKind GroupKind() const { return {group, kind}; }
  std::string ApiVersion() const { return Version().ToString(); }
  /// "apps/v1, Kind=Deployment", as error messages show it.
  std::string ToString() const { return group + "/" + version + ", Kind=" + kind; }
  auto operator<=>(const Gvk&) const = default;
};

struct Gvr {
  std::string group;
  std::string version;
  std::string resource;

  GroupVersion Version() const { return {group, version}; }
  apimesh::meta::GroupResource GroupResource() const { return {group, resource}; }
  auto operator<=>(const Gvr&) const = default;
};

}  // namespace apimesh::meta
