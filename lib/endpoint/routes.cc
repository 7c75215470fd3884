#include "lib/endpoint/routes.h"

#include <algorithm>
#include <initializer_list>

namespace apimesh::endpoint {
namespace {

using meta::RequestInfo;

bool HasAny(const std::set<std::string>& verbs, std::initializer_list<const char*> wanted) {
  return std::any_of(wanted.begin(), wanted.end(), [&](const char* verb) { return verbs.contains(verb); });
}

/// How many segments a path has, slashes at its ends aside.
std::size_t Segments(std::string_view path) {
  while (path.starts_with('/')) path.remove_prefix(1);
  while (path.ends_with('/')) path.remove_suffix(1);
  return path.empty() ? 0 : 1 + static_cast<std::size_t>(std::count(path.begin(), path.end(), '/'));
}

/// How many segments come before RequestInfo::parts in a path without a namespace and without /watch/: /api/v1 or /apis/GROUP/v1.
std::size_t PrefixSegments(const RequestInfo& info) { return info.api_prefix == "apis" ? 3 : 2; }

/// A path that starts with /api/v1/watch/ or /apis/GROUP/v1/watch/. Other watches are lists with a query parameter.
bool IsWatchPath(const rpc::Request& request) {
  if (request.info.verb != "watch") return false;
  const std::size_t namespace_segments = request.info.ns.empty() || request.info.IsNamespaceItself() ? 0 : 2;
  return Segments(request.path) == PrefixSegments(request.info) + namespace_segments + 1 + request.info.parts.size();
}

/// A path to one namespace or its subresources. RequestInfo has the same namespace and name for /api/v1/namespaces/x and for
/// /api/v1/namespaces/x/namespaces/x, which is no path that kube-apiserver has.
bool IsPathOfNamespace(const rpc::Request& request) {
  if (!request.info.IsNamespaceItself()) return false;
  const std::size_t shortest = PrefixSegments(request.info) + request.info.parts.size();
  return Segments(request.path) - shortest == (request.info.verb == "watch" ? 1 : 0);
}

bool ScopeFits(const registry::Resource& resource, const rpc::Request& request) {
  const RequestInfo& info = request.info;
  if (resource.scope == registry::Scope::kCluster) return info.ns.empty() || IsPathOfNamespace(request);
  // Across all namespaces there is only the collection, and only if it can be listed.
  return !info.ns.empty() || (info.parts.size() == 1 && resource.verbs.contains("list"));
}

bool TakesPath(const registry::Resource& resource, std::string_view subresource) {
  return std::any_of(resource.subresources.begin(), resource.subresources.end(),
                     [&](const registry::Subresource& known) { return known.name == subresource && known.takes_path; });
}

bool HasRoute(const registry::Resource& resource, const rpc::Request& request) {
  const RequestInfo& info = request.info;
  if (info.verb == "proxy" || !ScopeFits(resource, request)) return false;  // /api/v1/proxy/… is gone since Kubernetes 1.10
  if (IsWatchPath(request)) return info.parts.size() <= 2 && resource.verbs.contains("watch");
  switch (info.parts.size()) {
    case 1: return HasAny(resource.verbs, {"list", "create", "deletecollection"});
    case 2: return HasAny(resource.verbs, {"get", "update", "patch", "delete"});
    case 3: return true;
    default: return TakesPath(resource, info.subresource);
  }
}

bool CustomInScope(const registry::Resource& resource, const RequestInfo& info) {
  if (resource.scope == registry::Scope::kCluster) return info.ns.empty();
  return !info.ns.empty() || info.verb == "list" || info.verb == "watch";
}

}  // namespace

bool InScope(const ServedResource& served, const rpc::Request& request) {
  return served.custom ? CustomInScope(served.resource, request.info) : HasRoute(served.resource, request);
}

}  // namespace apimesh::endpoint
