#include "services/aggregator/audit/audit_policy.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "lib/base/file.h"
#include "lib/meta/errors/field_error.h"
#include "services/aggregator/audit/policy_file.h"

namespace apimesh::aggregator {
namespace {

constexpr std::string_view kLevelNames[] = {"None", "Metadata", "Request", "RequestResponse"};
constexpr std::string_view kStageNames[] = {"RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"};

bool Has(const std::vector<std::string>& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

bool UrlFits(std::string_view pattern, std::string_view path) {
  if (pattern == "*" || pattern == path) return true;
  return pattern.ends_with('*') && path.starts_with(pattern.substr(0, pattern.size() - 1));
}

// Patterns have the forms "pods", "pods/log", "pods/*" (which includes "pods"), "*/scale" and "*".
bool ResourceFits(std::string_view pattern, const meta::RequestInfo& info) {
  if (pattern == "*") return true;
  const std::size_t slash = pattern.find('/');
  if (slash == std::string_view::npos) return info.subresource.empty() && pattern == info.resource;
  const std::string_view resource = pattern.substr(0, slash), subresource = pattern.substr(slash + 1);
  if (subresource == "*" && resource == info.resource) return true;
  return !info.subresource.empty() && subresource == info.subresource && (resource == "*" || resource == info.resource);
}

bool ResourcesFit(const AuditPolicy::GroupResources& entry, const meta::RequestInfo& info) {
  if (entry.group != info.api_group && entry.group != "*") return false;
  if (entry.resources.empty()) return true;
  if (!entry.resource_names.empty() && !Has(entry.resource_names, info.name)) return false;
  return std::any_of(entry.resources.begin(), entry.resources.end(),
                     [&info](const auto& one) { return ResourceFits(one, info); });
}

}  // namespace

std::string_view ToString(AuditLevel level) { return kLevelNames[static_cast<int>(level)]; }
std::string_view ToString(AuditStage stage) { return kStageNames[static_cast<int>(stage)]; }

AuditPolicy AuditPolicy::FromFile(const std::string& path) {
  const std::optional<std::string> text = ReadFile(path);
  if (!text) {
    throw std::runtime_error(fmt::format("loading audit policy file: failed to read file path {}: open {}: {}",
                                         meta::Quoted(path), path, std::strerror(errno)));
  }
  try {
    return FromText(*text);
  } catch (const std::exception& error) {
    throw std::runtime_error(fmt::format("loading audit policy file: {}: from file {}", error.what(), path));
  }
}

AuditPolicy AuditPolicy::FromText(const std::string& text) {
  AuditPolicy policy;
  policy.rules_ = ParseAuditRules(text);
  return policy;
}

bool AuditPolicy::Rule::Fits(const meta::UserInfo& user, const meta::RequestInfo& info) const {
  if (!users.empty() && !Has(users, user.name)) return false;
  if (!groups.empty() &&
      std::none_of(user.groups.begin(), user.groups.end(), [this](const auto& group) { return Has(groups, group); })) {
    return false;
  }
  if (!verbs.empty() && !Has(verbs, info.verb.Text())) return false;
  if (!namespaces.empty() || !resources.empty()) {
    if (!info.is_resource_request) return false;
    if (!namespaces.empty() && !Has(namespaces, info.ns)) return false;
    return resources.empty() || std::any_of(resources.begin(), resources.end(),
                                            [&info](const auto& entry) { return ResourcesFit(entry, info); });
  }
  if (urls.empty()) return true;
  return !info.is_resource_request &&
         std::any_of(urls.begin(), urls.end(), [&info](const auto& url) { return UrlFits(url, info.path); });
}

AuditPolicy::Decision AuditPolicy::Evaluate(const meta::UserInfo& user, const meta::RequestInfo& info) const {
  for (const Rule& rule : rules_) {
    if (rule.Fits(user, info)) return rule.decision;
  }
  return {};
}

}  // namespace apimesh::aggregator
