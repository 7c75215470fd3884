#include "lib/meta/errors/forbidden.h"

#include "lib/meta/errors/field_error.h"

namespace apimesh::meta {
namespace {

std::string Escape(std::string_view text) {  // a browser may display these texts
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

std::string What(std::string_view user, const RequestInfo& info) {
  if (!info.is_resource_request)
    return fmt::format("User {} cannot {} path {}", Quoted(user), info.verb.Text(), Quoted(info.path));
  const std::string resource = info.subresource.empty() ? info.resource : info.resource + "/" + info.subresource;
  const std::string where =
      info.ns.empty() ? "at the cluster scope" : fmt::format("in the namespace {}", Quoted(info.ns));
  return fmt::format("User {} cannot {} resource {} in API group {} {}", Quoted(user), info.verb.Text(),
                     Quoted(resource), Quoted(info.api_group), where);
}

}  // namespace

ApiError ForbiddenTo(std::string_view user, const RequestInfo& info, std::string_view reason) {
  const std::string message = Escape(What(user, info));
  const GroupResource resource{info.api_group, info.resource};
  return Forbidden(resource, info.name, reason.empty() ? message : fmt::format("{}: {}", message, reason));
}

std::string InternalErrorText(std::string_view target, std::string_view error) {
  return Escape(fmt::format("Internal Server Error: {}: {}", Quoted(target), error)) + "\n";
}

}  // namespace apimesh::meta
