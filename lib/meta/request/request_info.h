#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/meta/request/verb.h"

namespace apimesh::meta {

/// The meaning of an HTTP method and path in the Kubernetes API. The process that accepts the request parses the path;
/// all other processes read this struct and never parse the path again.
struct RequestInfo {
  bool is_resource_request = false;
  std::string path;
  RequestVerb verb;        // the lower-case method of a non-resource request
  std::string api_prefix;  // "api" or "apis"
  std::string api_group;
  std::string api_version;
  std::string ns;  // the namespace ("namespace" is a C++ keyword)
  std::string resource;
  std::string subresource;
  std::string name;
  std::vector<std::string> parts;
  std::string field_selector;  // raw text of the query, for the authorizer
  std::string label_selector;

  /// Whether the request is for a namespace itself (/api/v1/namespaces/x and its subresources). `ns` is its name then,
  /// because rights in a namespace include those on the namespace object, although namespaces are cluster-scoped.
  bool IsNamespaceItself() const;
};

/// Parses a request line. `path` is percent-decoded, `query` is raw. The rules are those of kube-apiserver: a GET
/// without a name is a list, or a watch with ?watch=true or /watch/; a field selector metadata.name=x sets `name` for
/// list, watch and deletecollection. A path that ends with /watch or /proxy gives a resource request without a
/// resource, which kube-apiserver answers with an internal error.
RequestInfo ParseRequestInfo(std::string_view method, std::string_view path, std::string_view query);

}  // namespace apimesh::meta
