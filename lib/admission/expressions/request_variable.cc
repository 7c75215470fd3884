#include "lib/admission/expressions/request_variable.h"

namespace apimesh::admission {
namespace {

using meta::json::array;
using meta::json::object;

object KindOf(const meta::Gvk& kind) { return {{"group", kind.group}, {"kind", kind.kind}, {"version", kind.version}}; }
object ResourceOf(const meta::Gvr& resource) {
  return {{"group", resource.group}, {"resource", resource.resource}, {"version", resource.version}};
}
void SetUnlessEmpty(object& out, std::string_view name, const std::string& value) {
  if (!value.empty()) out.emplace(name, value);
}
array Texts(const std::vector<std::string>& texts) { return array(texts.begin(), texts.end()); }

object UserOf(const meta::UserInfo& user) {
  object out;
  SetUnlessEmpty(out, "username", user.name);
  SetUnlessEmpty(out, "uid", user.uid);
  if (!user.groups.empty()) out.emplace("groups", Texts(user.groups));
  if (!user.extra.empty()) {
    object& extra = out.emplace("extra", object()).first->value().get_object();
    for (const auto& [key, values] : user.extra) extra.emplace(key, Texts(values));
  }
  return out;
}

}  // namespace

object RequestVariable(const meta::RequestContext& ctx, const Attributes& attributes, const meta::Gvk& kind,
                       const meta::Gvr& resource) {
  object out;
  out.reserve(16);
  out.emplace("uid", "");
  out.emplace("kind", KindOf(kind));
  out.emplace("resource", ResourceOf(resource));
  SetUnlessEmpty(out, "subResource", attributes.subresource);
  out.emplace("requestKind", KindOf(attributes.kind));
  out.emplace("requestResource", ResourceOf(attributes.resource));
  SetUnlessEmpty(out, "requestSubResource", attributes.subresource);
  SetUnlessEmpty(out, "name", std::string(attributes.RequestName()));
  SetUnlessEmpty(out, "namespace", attributes.ns);
  out.emplace("operation", ToString(attributes.operation));
  out.emplace("userInfo", UserOf(ctx.User()));
  out.emplace("object", nullptr);
  out.emplace("oldObject", nullptr);
  out.emplace("dryRun", attributes.dry_run);
  if (attributes.options) {
    out.emplace("options", *attributes.options);
  } else {
    out.emplace("options", nullptr);
  }
  return out;
}

}  // namespace apimesh::admission
