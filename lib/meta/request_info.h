#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace apimesh::meta {

/// What a method and path mean to the API. Parsed once, at the edge; every process reads this and never the path again.
struct RequestInfo {
  bool is_resource_request = false;
  std::string path;
  std::string verb;        // "get", "list", "watch", … for resources; the lower-case method otherwise
  std::string api_prefix;  // "api" or "apis"
  std::string api_group;
  std::string api_version;
  std::string ns;  // "namespace" is a C++ word
  std::string resource;
  std::string subresource;
  std::string name;
  std::vector<std::string> parts;
  std::string field_selector;  // raw text of the query, for the authorizer
  std::string label_selector;

  /// Whether the request is for a namespace itself (/api/v1/namespaces/x and its subresources). `ns` is its name then, because
  /// rights in a namespace include those on the namespace object, although namespaces are cluster-scoped.
  bool IsNamespaceItself() const;
};

/// `path` is decoded; `query` is raw. Follows the reference's rules: a GET without a name is a list, with
/// ?watch=true or /watch/ a watch; a field selector metadata.name=x sets `name` for list, watch and deletecollection.
/// A /watch or /proxy with nothing behind it gives a resource request without a resource (an internal error of the reference).
RequestInfo ParseRequestInfo(std::string_view method, std::string_view path, std::string_view query);

}  // namespace apimesh::meta
