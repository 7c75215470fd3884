#include "services/aggregator/filters/forbidden.h"

#include "lib/meta/field_error.h"

namespace apimesh::aggregator {
namespace {

std::string Escape(std::string_view text) {  // these texts may end up in a browser
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      default: safe += c;
    }
  }
  return safe;
}

std::string What(std::string_view user, const meta::RequestInfo& info) {
  using meta::Quoted;
  if (!info.is_resource_request) return fmt::format("User {} cannot {} path {}", Quoted(user), info.verb, Quoted(info.path));
  const std::string resource = info.subresource.empty() ? info.resource : info.resource + "/" + info.subresource;
  const std::string where = info.ns.empty() ? "at the cluster scope" : fmt::format("in the namespace {}", Quoted(info.ns));
  return fmt::format("User {} cannot {} resource {} in API group {} {}", Quoted(user), info.verb, Quoted(resource),
                     Quoted(info.api_group), where);
}

}  // namespace

meta::ApiError ForbiddenTo(std::string_view user, const meta::RequestInfo& info, std::string_view reason) {
  const std::string message = Escape(What(user, info));
  const meta::GroupResource resource{info.api_group, info.resource};
  return meta::Forbidden(resource, info.name, reason.empty() ? message : fmt::format("{}: {}", message, reason));
}

}  // namespace apimesh::aggregator
