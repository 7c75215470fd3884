#pragma once

#include <string>

#include "lib/cel/value/value.h"

namespace apimesh::cel {

/// What an expression asks: authorizer.group('apps').resource('deployments').check('create').
struct AuthorizationQuestion {
  std::string verb;
  std::string path;  // of a request without a resource
  std::string group, resource, subresource, namespace_name, name, field_selector, label_selector;
  /// Set if the question is about a service account and not about the user of the request.
  std::string service_account_namespace, service_account_name;
};
struct AuthorizationAnswer {
  bool allowed = false;
  std::string reason, error;
  bool errored = false;
};

/// Answers questions for the expressions of one request.
class Authorizer {
 public:
  virtual ~Authorizer() = default;
  virtual AuthorizationAnswer Authorize(const AuthorizationQuestion& question) const = 0;
};

/// The variable "authorizer". `authorizer` must outlive the evaluation.
Value AuthorizerValue(const Authorizer& authorizer, Arena& arena);
/// The variable "authorizer.requestResource": a question about the resource of a request.
Value ResourceCheckValue(const Authorizer& authorizer, AuthorizationQuestion question, Arena& arena);

}  // namespace apimesh::cel
