#include "lib/endpoint/routes.h"

#include <algorithm>

namespace apimesh::endpoint {
namespace {

using meta::RequestInfo;
using meta::Verb;

/// Returns the number of segments of a path, without leading and trailing slashes.
std::size_t Segments(std::string_view path) {
  while (path.starts_with('/')) path.remove_prefix(1);
  while (path.ends_with('/')) path.remove_suffix(1);
  return path.empty() ? 0 : 1 + static_cast<std::size_t>(std::count(path.begin(), path.end(), '/'));
}

/// Returns the number of segments before RequestInfo::parts in a path without a namespace and without /watch/: /api/v1
/// or /apis/GROUP/v1.
std::size_t PrefixSegments(const RequestInfo& info) { return info.api_prefix == "apis" ? 3 : 2; }

/// Returns whether the path starts with /api/v1/watch/ or /apis/GROUP/v1/watch/. Other watches are lists with a query
/// parameter.
bool IsWatchPath(const mesh::Request& request) {
  if (request.info.verb != Verb::kWatch) return false;
  const std::size_t namespace_segments = request.info.ns.empty() || request.info.IsNamespaceItself() ? 0 : 2;
  return Segments(request.path) == PrefixSegments(request.info) + namespace_segments + 1 + request.info.parts.size();
}

/// Returns whether the path is that of one namespace or of its subresources. RequestInfo has the same namespace and
/// name for /api/v1/namespaces/x and for /api/v1/namespaces/x/namespaces/x, which is not a path of kube-apiserver.
bool IsPathOfNamespace(const mesh::Request& request) {
  if (!request.info.IsNamespaceItself()) return false;
  const std::size_t shortest = PrefixSegments(request.info) + request.info.parts.size();
  return Segments(request.path) - shortest == (request.info.verb == Verb::kWatch ? 1 : 0);
}

bool ScopeFits(const registry::Resource& resource, const mesh::Request& request) {
  const RequestInfo& info = request.info;
  if (resource.scope == registry::Scope::kCluster) return info.ns.empty() || IsPathOfNamespace(request);
  // The only path across all namespaces is the collection, if it can be listed.
  return !info.ns.empty() || (info.parts.size() == 1 && resource.verbs.contains(Verb::kList));
}

bool TakesPath(const registry::Resource& resource, std::string_view subresource) {
  return std::any_of(resource.subresources.begin(), resource.subresources.end(),
                     [&](const registry::Subresource& known) { return known.name == subresource && known.takes_path; });
}

bool HasRoute(const registry::Resource& resource, const mesh::Request& request) {
  const RequestInfo& info = request.info;
  if (info.verb == Verb::kProxy || !ScopeFits(resource, request))
    return false;  // Kubernetes removed /api/v1/proxy/… in 1.10
  if (IsWatchPath(request)) return info.parts.size() <= 2 && resource.verbs.contains(Verb::kWatch);
  switch (info.parts.size()) {
    case 1: return resource.verbs.ContainsAny({Verb::kList, Verb::kCreate, Verb::kDeleteCollection});
    case 2: return resource.verbs.ContainsAny({Verb::kGet, Verb::kUpdate, Verb::kPatch, Verb::kDelete});
    case 3: return true;
    default: return TakesPath(resource, info.subresource);
  }
}

bool CustomInScope(const registry::Resource& resource, const RequestInfo& info) {
  if (resource.scope == registry::Scope::kCluster) return info.ns.empty();
  return !info.ns.empty() || info.verb == Verb::kList || info.verb == Verb::kWatch;
}

}  // namespace

bool InScope(const ServedResource& served, const mesh::Request& request) {
  return served.custom ? CustomInScope(served.resource, request.info) : HasRoute(served.resource, request);
}

}  // namespace apimesh::endpoint
