#include "services/aggregator/fairness/flow_schema.h"

#include <algorithm>

#include "lib/base/hash/seeded_hash.h"

namespace apimesh::aggregator {
namespace {

using meta::FindString;

constexpr std::string_view kAll = "*";

/// Calls `visit` for each object in the list `field`.
template <class Visit>
void ForEachObject(const meta::json::object& parent, std::string_view field, Visit visit) {
  const meta::json::value* list = meta::FindField(parent, field);
  if (!list || !list->is_array()) return;
  for (const meta::json::value& item : list->get_array()) {
    if (item.is_object()) visit(item.get_object());
  }
}

std::int64_t PrecedenceOf(const meta::Object& object) {
  const meta::json::value* value = meta::Find(object.Root(), "spec", "matchingPrecedence");
  return value && value->is_int64() ? value->get_int64() : 1000;
}

}  // namespace

FlowSchema::FlowSchema(const meta::Object& object)
    : name_(object.Name()),
      uid_(object.Uid()),
      level_(FindString(object.Root(), "spec", "priorityLevelConfiguration", "name")),
      precedence_(PrecedenceOf(object)) {
  const std::string_view method = FindString(object.Root(), "spec", "distinguisherMethod", "type");
  if (method == "ByUser") distinguish_ = Distinguish::kUser;
  if (method == "ByNamespace") distinguish_ = Distinguish::kNamespace;
  const meta::json::value* spec = meta::Find(object.Root(), "spec");
  if (!spec || !spec->is_object()) return;
  ForEachObject(spec->get_object(), "rules",
                [this](const meta::json::object& rule) { rules_.push_back(ReadRule(rule)); });
}

FlowSchema::Names FlowSchema::ReadNames(const meta::json::object& rule, std::string_view field) {
  Names names;
  const meta::json::value* list = meta::FindField(rule, field);
  if (!list || !list->is_array()) return names;
  for (const meta::json::value& item : list->get_array()) {
    if (item.is_string()) names.names.emplace_back(item.get_string());
  }
  names.all = names.names.size() == 1 && names.names[0] == kAll;
  return names;
}

FlowSchema::Rule FlowSchema::ReadRule(const meta::json::object& json) {
  Rule rule;
  ForEachObject(json, "subjects", [&](const meta::json::object& subject) {
    const std::string_view kind = FindString(subject, "kind");
    if (kind == "User")
      rule.subjects.push_back({Subject::Kind::kUser, std::string(FindString(subject, "user", "name")), ""});
    if (kind == "Group")
      rule.subjects.push_back({Subject::Kind::kGroup, std::string(FindString(subject, "group", "name")), ""});
    if (kind == "ServiceAccount") {
      rule.subjects.push_back({Subject::Kind::kServiceAccount,
                               std::string(FindString(subject, "serviceAccount", "name")),
                               std::string(FindString(subject, "serviceAccount", "namespace"))});
    }
  });
  ForEachObject(json, "resourceRules", [&](const meta::json::object& one) {
    const meta::json::value* cluster_scope = meta::FindField(one, "clusterScope");
    rule.resources.push_back({ReadNames(one, "verbs"), ReadNames(one, "apiGroups"), ReadNames(one, "resources"),
                              ReadNames(one, "namespaces"),
                              cluster_scope && cluster_scope->is_bool() && cluster_scope->get_bool()});
  });
  ForEachObject(json, "nonResourceRules", [&](const meta::json::object& one) {
    rule.paths.push_back({ReadNames(one, "verbs"), ReadNames(one, "nonResourceURLs").names});
  });
  return rule;
}

bool FlowSchema::Names::Has(std::string_view name) const {
  return all || std::find(names.begin(), names.end(), name) != names.end();
}

bool FlowSchema::Is(const Subject& subject, const meta::UserInfo& user) {
  switch (subject.kind) {
    case Subject::Kind::kUser: return subject.name == kAll || subject.name == user.name;
    case Subject::Kind::kGroup:
      return subject.name == kAll ||
             std::find(user.groups.begin(), user.groups.end(), subject.name) != user.groups.end();
    case Subject::Kind::kServiceAccount: {
      constexpr std::string_view kPrefix = "system:serviceaccount:";
      std::string_view name = user.name;
      if (!name.starts_with(kPrefix)) return false;
      name.remove_prefix(kPrefix.size());
      if (!name.starts_with(subject.ns) || name.substr(subject.ns.size(), 1) != ":") return false;
      return subject.name == kAll || name.substr(subject.ns.size() + 1) == subject.name;
    }
  }
  return false;
}

bool FlowSchema::Matches(const ResourceRule& rule, const meta::RequestInfo& info) {
  if (!rule.verbs.Has(info.verb.Text()) || !rule.groups.Has(info.api_group)) return false;
  if (info.subresource.empty() ? !rule.resources.Has(info.resource)
                               : !rule.resources.Has(info.resource + "/" + info.subresource))
    return false;
  return info.ns.empty() ? rule.cluster_scope : rule.namespaces.Has(info.ns);
}

bool FlowSchema::Matches(const PathRule& rule, const meta::RequestInfo& info) {
  if (!rule.verbs.Has(info.verb.Text())) return false;
  return std::any_of(rule.paths.begin(), rule.paths.end(), [&info](std::string_view path) {
    if (path == kAll || path == info.path) return true;
    // "/healthz/*" and "/healthz" both match the paths below /healthz/.
    if (path.ends_with('*')) path.remove_suffix(1);
    if (path.ends_with('/')) path.remove_suffix(1);
    return info.path.starts_with(path) && info.path.substr(path.size(), 1) == "/";
  });
}

bool FlowSchema::Matches(const meta::RequestInfo& info, const meta::UserInfo& user) const {
  return std::any_of(rules_.begin(), rules_.end(), [&](const Rule& rule) {
    const auto is = [&user](const Subject& subject) { return Is(subject, user); };
    if (std::none_of(rule.subjects.begin(), rule.subjects.end(), is)) return false;
    const auto matches = [&info](const auto& one) { return Matches(one, info); };
    return info.is_resource_request ? std::any_of(rule.resources.begin(), rule.resources.end(), matches)
                                    : std::any_of(rule.paths.begin(), rule.paths.end(), matches);
  });
}

std::string_view FlowSchema::Distinguisher(const meta::RequestInfo& info, const meta::UserInfo& user) const {
  switch (distinguish_) {
    case Distinguish::kUser: return user.name;
    case Distinguish::kNamespace: return info.ns;
    case Distinguish::kNothing: break;
  }
  return {};
}

std::uint64_t FlowSchema::FlowHash(std::string_view distinguisher) const {
  // The hash has a random key, so clients cannot choose names whose flows share their queues with another flow.
  constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15;
  return SeededHash()(distinguisher) ^ (SeededHash()(name_) * kMix);
}

}  // namespace apimesh::aggregator
