#include "services/core-api/bootstrap/data.h"

#include <algorithm>
#include <stdexcept>

#include "lib/codec/codec.h"

namespace apimesh::core_api {

namespace {

namespace json = meta::json;

/// Adds or removes the gated parts of a role.
void ApplyParts(meta::Object& role, const json::array& policy, const features::FeatureGates& gates) {
  const auto of_role = [&](const json::object& part) { return meta::FindString(part, "role") == role.Name(); };
  json::value* found = meta::FindField(role.Root(), "rules");
  if (!found || !found->is_array()) return;
  json::array& rules = found->get_array();
  for (const json::value& element : policy) {
    const json::object& part = element.get_object();
    if (!of_role(part)) continue;
    if (const json::value* rule = part.if_contains("rule")) {
      const auto same = std::find_if(rules.begin(), rules.end(), [&](const json::value& one) { return one == *rule; });
      if (same != rules.end()) rules.erase(same);
    } else if (const json::value* url = part.if_contains("url"); !gates.Enabled(meta::FindString(part, "gate"))) {
      for (json::value& rule_with_urls : rules) {
        json::value* urls = meta::FindField(rule_with_urls.get_object(), "nonResourceURLs");
        if (!urls) continue;
        json::array& list = urls->get_array();
        const auto named = std::find(list.begin(), list.end(), *url);
        if (named != list.end()) list.erase(named);
      }
    }
  }
  for (const json::value& element : policy) {
    const json::object& part = element.get_object();
    const json::value* rule = part.if_contains("rule");
    if (rule && of_role(part) && gates.Enabled(meta::FindString(part, "gate"))) rules.push_back(*rule);
  }
}

}  // namespace

std::vector<meta::Object> ClusterPolicy(BootstrapFile file, const features::FeatureGates& gates) {
  const meta::Result<json::value> parsed = codec::ParseJson(BootstrapBytes(BootstrapFile::kGatedPolicy), {});
  if (!parsed || !parsed->is_array()) throw std::logic_error("data/bootstrap/gated_policy.json is not a JSON array");
  const json::array& policy = parsed->get_array();
  std::vector<meta::Object> objects = BootstrapObjects(file);
  const std::string kind(objects.front().Kind());
  for (const json::value& element : policy) {
    const json::object& part = element.get_object();
    const bool enabled = gates.Enabled(meta::FindString(part, "gate"));
    if (const json::value* added = part.if_contains("object")) {
      meta::Object object(added->get_object());
      if (enabled && object.Kind() == kind) objects.push_back(std::move(object));
    } else if (const std::string_view name = meta::FindString(part, "name"); !enabled && !name.empty()) {
      std::erase_if(objects, [name](const meta::Object& object) { return object.Name() == name; });
    }
  }
  for (meta::Object& object : objects) ApplyParts(object, policy, gates);
  return objects;
}

std::vector<meta::Object> BootstrapObjects(BootstrapFile file) {
  meta::Result<meta::json::value> parsed = codec::ParseJson(BootstrapBytes(file), {});
  if (!parsed || !parsed->is_array()) throw std::logic_error("a file of data/bootstrap is not a JSON array");
  std::vector<meta::Object> objects;
  for (meta::json::value& item : parsed->get_array()) objects.emplace_back(std::move(item.as_object()));
  return objects;
}

}  // namespace apimesh::core_api
