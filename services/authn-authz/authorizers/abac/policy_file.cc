#include "lib/base/text/trim.h"
#include "lib/meta/object.h"
#include "services/authn-authz/authorizers/abac/abac.h"

namespace apimesh::authn_authz {
namespace {

constexpr std::string_view kAllAuthenticated = "system:authenticated";

struct Field {
  std::string_view name;
  std::string AbacPolicy::* target;
};
constexpr Field kFields[] = {{"user", &AbacPolicy::user},          {"group", &AbacPolicy::group},
                             {"resource", &AbacPolicy::resource},  {"namespace", &AbacPolicy::ns},
                             {"apiGroup", &AbacPolicy::api_group}, {"nonResourcePath", &AbacPolicy::non_resource_path}};

// Returns an error text, or "".
std::string ReadFields(const boost::json::object& from, AbacPolicy& policy) {
  for (const Field& field : kFields) {
    const boost::json::value* value = meta::FindField(from, field.name);
    if (!value || value->is_null()) continue;
    if (!value->is_string()) return fmt::format("field {} must be a string", field.name);
    policy.*field.target = std::string(value->get_string());
  }
  if (const boost::json::value* value = meta::FindField(from, "readonly"); value && !value->is_null()) {
    if (!value->is_bool()) return "field readonly must be a boolean";
    policy.readonly = value->get_bool();
  }
  return {};
}

// Converts the old format, in which an absent field means "all".
void Upgrade(AbacPolicy& policy) {
  const bool all_namespaces = policy.ns.empty(), all_resources = policy.resource.empty();
  if ((policy.user.empty() && policy.group.empty()) || policy.user == "*" || policy.group == "*") {
    policy.group = kAllAuthenticated;
    policy.user.clear();
  }
  if (all_namespaces) policy.ns = "*";
  if (all_resources) policy.resource = "*";
  policy.api_group = "*";
  policy.non_resource_path = all_namespaces && all_resources ? "*" : "";
}

}  // namespace

meta::Result<std::vector<AbacPolicy>> ParseAbacFile(std::string_view text, std::string_view path) {
  std::vector<AbacPolicy> policies;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    const std::string_view content = TrimSpace(line);
    if (content.empty() || content.front() == '#') continue;

    const auto bad = [&](std::string_view why) {
      return meta::BadRequest(fmt::format("error reading policy file {}, line {}: {}: {}", path, number, line, why));
    };
    boost::system::error_code error;
    const boost::json::value value = boost::json::parse(boost::json::string_view(line.data(), line.size()), error);
    if (error || !value.is_object()) return bad(error ? error.message() : "not an object");
    const boost::json::object& object = value.get_object();
    const std::string_view kind = meta::FindString(object, "kind"), version = meta::FindString(object, "apiVersion");
    AbacPolicy policy;
    if (kind.empty() || version.empty()) {
      if (const std::string why = ReadFields(object, policy); !why.empty()) return bad(why);
      Upgrade(policy);
    } else if (kind != "Policy" || version != "abac.authorization.kubernetes.io/v1beta1") {
      return bad(fmt::format("no kind \"{}\" is registered for version \"{}\"", kind, version));
    } else if (const boost::json::value* spec = meta::FindField(object, "spec"); spec && spec->is_object()) {
      if (const std::string why = ReadFields(spec->get_object(), policy); !why.empty()) return bad(why);
    }
    policies.push_back(std::move(policy));
  }
  return policies;
}

}  // namespace apimesh::authn_authz
