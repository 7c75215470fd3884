#include "services/aggregator/audit/audit_policy.h"

#include <yaml-cpp/yaml.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace apimesh::aggregator {
namespace {

constexpr std::string_view kLevels[] = {"None", "Metadata", "Request", "RequestResponse"};
constexpr std::string_view kStages[] = {"RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"};

bool Has(const std::vector<std::string>& list, std::string_view item) { return std::find(list.begin(), list.end(), item) != list.end(); }

std::vector<std::string> Strings(const YAML::Node& node) {
  std::vector<std::string> all;
  for (const YAML::Node& item : node) all.push_back(item.as<std::string>());
  return all;
}

template <std::size_t N>
std::size_t IndexIn(const std::string_view (&names)[N], const std::string& name, const char* what) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) return i;
  }
  throw std::runtime_error(fmt::format("unknown {} \"{}\"", what, name));
}

void ReadStages(const YAML::Node& node, bool (&omitted)[4]) {
  for (const std::string& stage : Strings(node)) omitted[IndexIn(kStages, stage, "stage")] = true;
}

bool UrlFits(std::string_view pattern, std::string_view path) {
  if (pattern == "*" || pattern == path) return true;
  return pattern.ends_with('*') && path.starts_with(pattern.substr(0, pattern.size() - 1));
}

// "pods", "pods/log", "pods/*", "*/scale", "*".
bool ResourceFits(const std::string& pattern, const meta::RequestInfo& info) {
  const std::string combined = info.subresource.empty() ? info.resource : info.resource + "/" + info.subresource;
  if (pattern == "*" || pattern == combined) return true;
  if (info.subresource.empty()) return false;
  return pattern == "*/" + info.subresource || pattern == info.resource + "/*";
}

}  // namespace

std::string_view ToString(AuditLevel level) { return kLevels[static_cast<int>(level)]; }
std::string_view ToString(AuditStage stage) { return kStages[static_cast<int>(stage)]; }

AuditPolicy AuditPolicy::FromFile(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(fmt::format("--audit-policy-file: can't read {}", path));
  std::stringstream text;
  text << file.rdbuf();
  try {
    return FromText(text.str());
  } catch (const std::exception& error) {
    throw std::runtime_error(fmt::format("--audit-policy-file: {}: {}", path, error.what()));
  }
}

AuditPolicy AuditPolicy::FromText(const std::string& text) {
  const YAML::Node root = YAML::Load(text);
  if (!root.IsMap() || root["kind"].as<std::string>("") != "Policy") throw std::runtime_error("it is not a Policy of audit.k8s.io/v1");
  if (!root["rules"] || root["rules"].size() == 0) throw std::runtime_error("loaded illegal policy with 0 rules");
  bool omitted_everywhere[4] = {};
  ReadStages(root["omitStages"], omitted_everywhere);
  AuditPolicy policy;
  for (const YAML::Node& node : root["rules"]) {
    Rule rule;
    rule.level = static_cast<AuditLevel>(IndexIn(kLevels, node["level"].as<std::string>(""), "level"));
    rule.users = Strings(node["users"]);
    rule.groups = Strings(node["userGroups"]);
    rule.verbs = Strings(node["verbs"]);
    rule.namespaces = Strings(node["namespaces"]);
    rule.urls = Strings(node["nonResourceURLs"]);
    for (const YAML::Node& resources : node["resources"]) {
      rule.resources.push_back({resources["group"].as<std::string>(""), Strings(resources["resources"]), Strings(resources["resourceNames"])});
    }
    std::copy(std::begin(omitted_everywhere), std::end(omitted_everywhere), rule.omitted);
    ReadStages(node["omitStages"], rule.omitted);
    policy.rules_.push_back(std::move(rule));
  }
  return policy;
}

bool AuditPolicy::Rule::Fits(const meta::UserInfo& user, const meta::RequestInfo& info) const {
  if (!users.empty() && !Has(users, user.name)) return false;
  if (!groups.empty() && std::none_of(user.groups.begin(), user.groups.end(), [this](const auto& group) { return Has(groups, group); })) {
    return false;
  }
  if (!verbs.empty() && !Has(verbs, info.verb)) return false;
  if (namespaces.empty() && resources.empty() && urls.empty()) return true;
  if (!info.is_resource_request) {
    return std::any_of(urls.begin(), urls.end(), [&info](const auto& url) { return UrlFits(url, info.path); });
  }
  if (namespaces.empty() && resources.empty()) return false;  // a rule about URLs
  if (!namespaces.empty() && !Has(namespaces, info.ns)) return false;
  if (resources.empty()) return true;
  for (const GroupResources& entry : resources) {
    if (entry.group != info.api_group) continue;
    if (entry.resources.empty()) return true;
    if (!entry.resource_names.empty() && !Has(entry.resource_names, info.name)) continue;
    if (std::any_of(entry.resources.begin(), entry.resources.end(), [&info](const auto& one) { return ResourceFits(one, info); })) return true;
  }
  return false;
}

AuditPolicy::Decision AuditPolicy::Evaluate(const meta::UserInfo& user, const meta::RequestInfo& info) const {
  Decision decision;
  for (const Rule& rule : rules_) {
    if (!rule.Fits(user, info)) continue;
    decision.level = rule.level;
    std::copy(std::begin(rule.omitted), std::end(rule.omitted), decision.omitted);
    break;
  }
  return decision;
}

}  // namespace apimesh::aggregator
