#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "services/authn-authz/authorizers/authorizer.h"

/// Questions to authorizers, and their decisions, as short texts.
namespace apimesh::authn_authz::fake {

/// Parses "list pods/log.apps ns/name" or "get /path".
inline Attributes Question(std::string user, std::vector<std::string> groups, std::string_view text) {
  Attributes a;
  a.user = {std::move(user), "", std::move(groups), {}};
  const std::size_t space = text.find(' ');
  a.verb = text.substr(0, space);
  text.remove_prefix(space + 1);
  if (text.starts_with('/')) {
    a.path = text;
    return a;
  }
  a.is_resource_request = true;
  const std::size_t end = text.find(' ');
  std::string_view resource = text.substr(0, end);
  if (const std::size_t dot = resource.find('.'); dot != resource.npos) {
    a.api_group = resource.substr(dot + 1);
    resource = resource.substr(0, dot);
  }
  const std::size_t slash = resource.find('/');
  a.resource = resource.substr(0, slash);
  if (slash != resource.npos) a.subresource = resource.substr(slash + 1);
  if (end != text.npos) {
    const std::string_view target = text.substr(end + 1);
    const std::size_t bar = target.find('/');
    a.ns = target.substr(0, bar);
    if (bar != target.npos) a.name = target.substr(bar + 1);
  }
  return a;
}

/// Returns "allow", "deny" or "no opinion", and the reason if there is one.
inline std::string Show(const Decision& decision) {
  const char* words[] = {"allow", "deny", "no opinion"};
  return std::string(words[static_cast<int>(decision.verdict)]) +
         (decision.reason.empty() ? "" : ": " + decision.reason);
}

}  // namespace apimesh::authn_authz::fake
