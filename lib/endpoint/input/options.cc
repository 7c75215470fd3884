#include "lib/endpoint/input/options.h"

#include <algorithm>

#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "lib/meta/errors/field_error.h"

namespace apimesh::endpoint {
namespace {

namespace json = meta::json;
using meta::FieldErrors;
using meta::Quoted;

constexpr std::size_t kMaxManagerBytes = 128;
constexpr const char* kIgnoreReadError = "ignoreStoreReadErrorWithClusterBreakingPotential";

void CheckManager(std::string_view manager, FieldErrors& errors) {
  if (manager.size() > kMaxManagerBytes) errors.push_back(meta::TooLong("fieldManager", kMaxManagerBytes));
  for (std::size_t i = 0; i < manager.size(); ++i) {
    const auto c = static_cast<unsigned char>(manager[i]);
    if (c >= 0x20 && c != 0x7f) continue;
    errors.push_back(meta::Invalid("fieldManager", Quoted(manager),
                                   fmt::format("invalid character U+{:04X} (at position {})", c, i)));
  }
}

void CheckDryRun(const std::vector<std::string>& values, FieldErrors& errors) {
  if (std::all_of(values.begin(), values.end(), [](const std::string& value) { return value == "All"; })) return;
  errors.push_back(meta::NotSupported("dryRun", json::serialize(json::array(values.begin(), values.end())), {"All"}));
}

meta::ApiError InvalidOptions(std::string_view kind, const FieldErrors& errors) {
  return meta::Invalid(meta::GroupKind{"meta.k8s.io", std::string(kind)}, "", errors);
}

std::string_view KindOf(WriteKind kind) {
  switch (kind) {
    case WriteKind::kCreate: return "CreateOptions";
    case WriteKind::kUpdate: return "UpdateOptions";
    default: return "PatchOptions";
  }
}

void CheckWatchMatch(std::string_view match, bool has_continue, bool has_initial, bool watch_list,
                     FieldErrors& errors) {
  if (has_initial && match != "NotOlderThan") {
    errors.push_back(meta::Forbidden("resourceVersionMatch",
                                     "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
  }
  if (has_initial && !watch_list) {
    errors.push_back(meta::Forbidden(
        "sendInitialEvents", "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"));
  }
  if (match.empty()) return;
  if (!has_initial) {
    errors.push_back(meta::Forbidden(
        "resourceVersionMatch", "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"));
  }
  if (match != "NotOlderThan")
    errors.push_back(meta::NotSupported("resourceVersionMatch", Quoted(match), {"NotOlderThan"}));
  if (has_continue) {
    errors.push_back(
        meta::Forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided"));
  }
}

void CheckListMatch(std::string_view match, std::string_view version, bool has_continue, bool has_initial,
                    FieldErrors& errors) {
  if (!match.empty()) {
    if (version.empty()) {
      errors.push_back(meta::Forbidden("resourceVersionMatch",
                                       "resourceVersionMatch is forbidden unless resourceVersion is provided"));
    }
    if (has_continue) {
      errors.push_back(
          meta::Forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided"));
    }
    if (match != "Exact" && match != "NotOlderThan") {
      errors.push_back(meta::NotSupported("resourceVersionMatch", Quoted(match), {"Exact", "NotOlderThan", ""}));
    }
    if (match == "Exact" && version == "0") {
      errors.push_back(meta::Forbidden("resourceVersionMatch",
                                       "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\""));
    }
  }
  if (has_initial) errors.push_back(meta::Forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
}

/// Returns an error if the selector uses a field that the kind cannot select by.
meta::Result<> CheckFields(const meta::FieldSelector& fields, const registry::Resource& resource) {
  const std::vector<std::string>& known = resource.selectable_fields;
  for (const meta::FieldSelector::Term& term : fields.Terms()) {
    if (term.field == "metadata.name" || term.field == "metadata.namespace") continue;
    if (std::find(known.begin(), known.end(), term.field) != known.end()) continue;
    if (known.empty() && !resource.schema->custom) {
      return meta::BadRequest(fmt::format(
          "{} is not a known field selector: only \"metadata.name\", \"metadata.namespace\"", Quoted(term.field)));
    }
    return meta::BadRequest(fmt::format(fmt::runtime(resource.unknown_field_text), term.field));
  }
  return {};
}

/// Returns a selector for exactly this name.
meta::Result<meta::FieldSelector> NameSelector(const meta::FieldSelector& given, std::string_view name) {
  if (given.Empty()) return meta::FieldSelector::Parse(fmt::format("metadata.name={}", name));
  const std::string* wanted = given.RequiresExactMatch("metadata.name");
  if (!wanted || *wanted != name) return meta::BadRequest("fieldSelector metadata.name doesn't match requested name");
  return given;
}

meta::Result<> CheckDelete(const registry::DeleteOptions& options, const std::vector<std::string>& dry_run) {
  FieldErrors errors;
  if (options.propagation_policy) {
    const std::string& policy = *options.propagation_policy;
    if (options.orphan_dependents) {
      errors.push_back(meta::Invalid("propagationPolicy", Quoted(policy),
                                     "orphanDependents and deletionPropagation cannot be both set"));
    }
    if (policy != "Foreground" && policy != "Background" && policy != "Orphan") {
      errors.push_back(
          meta::NotSupported("propagationPolicy", Quoted(policy), {"Foreground", "Background", "Orphan", "nil"}));
    }
  }
  CheckDryRun(dry_run, errors);
  if (options.ignore_read_error) {
    const auto alone = [&errors](bool given, std::string_view other) {
      if (given)
        errors.push_back(
            meta::Invalid(kIgnoreReadError, "true", fmt::format("cannot be set together with .{}", other)));
    };
    alone(options.propagation_policy.has_value(), "propagationPolicy");
    alone(options.orphan_dependents.has_value(), "orphanDependents");
    alone(options.grace_period_seconds.has_value(), "gracePeriodSeconds");
    alone(options.uid || options.resource_version, "preconditions");
  }
  if (!errors.empty()) return InvalidOptions("DeleteOptions", errors);
  return {};
}

}  // namespace

meta::Result<WriteOptions> ParseWriteOptions(const Query& query, WriteKind kind) {
  WriteOptions options;
  FieldErrors errors;
  options.field_manager = query.First("fieldManager");
  std::optional<bool> force;
  if (kind == WriteKind::kPatch || kind == WriteKind::kApply) force = query.Bool("force");
  options.force = force.value_or(false);
  if (kind == WriteKind::kApply && options.field_manager.empty()) {
    errors.push_back(meta::Required("fieldManager", "is required for apply patch"));
  }
  if (kind == WriteKind::kPatch && force) {
    errors.push_back(meta::Forbidden("force", "may not be specified for non-apply patch"));
  }
  CheckManager(options.field_manager, errors);
  const std::vector<std::string> dry_run = query.All("dryRun");
  CheckDryRun(dry_run, errors);
  options.dry_run = !dry_run.empty();
  const std::string_view validation = query.First("fieldValidation");
  if (validation == "Ignore") {
    options.field_validation = FieldValidation::kIgnore;
  } else if (validation == "Strict") {
    options.field_validation = FieldValidation::kStrict;
  } else if (!validation.empty() && validation != "Warn") {
    errors.push_back(meta::NotSupported("fieldValidation", Quoted(validation), {"", "Ignore", "Strict", "Warn"}));
  }
  if (!errors.empty()) return InvalidOptions(KindOf(kind), errors);

  options.document["kind"] = kind == WriteKind::kCreate ? "CreateOptions" : "UpdateOptions";
  options.document["apiVersion"] = "meta.k8s.io/v1";
  if (options.dry_run) options.document["dryRun"] = json::array(dry_run.begin(), dry_run.end());
  if (!options.field_manager.empty()) options.document["fieldManager"] = options.field_manager;
  if (!validation.empty()) options.document["fieldValidation"] = validation;
  return options;
}

meta::Result<ListQuery> ParseListQuery(const Query& query, const registry::Resource& resource, std::string_view ns,
                                       std::string_view name, bool watch_list) {
  // The same rule as for single objects (storage::KeyFor): rights in a namespace must not give access to a list of the
  // complete cluster.
  if (resource.scope == registry::Scope::kCluster && !ns.empty()) {
    return meta::InternalError(fmt::format("the cluster-scoped resource {} was requested in namespace {}",
                                           resource.GetGroupResource().ToString(), meta::Quoted(ns)));
  }
  ListQuery parsed;
  ASSIGN_OR_RETURN(const std::optional<std::int64_t> limit, query.Integer("limit"));
  ASSIGN_OR_RETURN(parsed.timeout_seconds, query.Integer("timeoutSeconds"));
  ASSIGN_OR_RETURN(meta::LabelSelector labels, meta::LabelSelector::Parse(query.First("labelSelector")));
  ASSIGN_OR_RETURN(meta::FieldSelector fields, meta::FieldSelector::Parse(query.First("fieldSelector")));
  const std::string version(query.First("resourceVersion"));
  const std::string token(query.First("continue"));
  std::string_view match_text = query.First("resourceVersionMatch");
  std::optional<bool> send_initial = query.Bool("sendInitialEvents");

  FieldErrors errors;
  const bool watch = query.Bool("watch").value_or(false);
  const bool asked = send_initial.has_value();
  if (watch && !send_initial && match_text.empty() && (version.empty() || version == "0")) {
    // For compatibility, a watch without a resourceVersion, or with "0", starts with the current state. With
    // sendInitialEvents it also sends a bookmark after the initial events.
    send_initial = true;
    match_text = "NotOlderThan";
  }
  if (watch) {
    CheckWatchMatch(match_text, !token.empty(), send_initial.has_value(), watch_list || !asked, errors);
  } else {
    CheckListMatch(match_text, version, !token.empty(), send_initial.has_value(), errors);
  }
  if (!errors.empty()) return InvalidOptions("ListOptions", errors);
  storage::VersionMatch match = storage::VersionMatch::kUnset;
  if (match_text == "Exact") match = storage::VersionMatch::kExact;
  if (match_text == "NotOlderThan") match = storage::VersionMatch::kNotOlderThan;

  RETURN_IF_ERROR(CheckFields(fields, resource));
  if (!name.empty()) {
    ASSIGN_OR_RETURN(fields, NameSelector(fields, name));
  }
  parsed.list = {.ns = std::string(ns),
                 .resource_version = version,
                 .match = match,
                 .limit = limit.value_or(0),
                 .continue_token = token,
                 .labels = labels,
                 .fields = fields};
  parsed.watch = {.ns = std::string(ns),
                  .resource_version = version,
                  .match = match,
                  .send_initial_events = send_initial,
                  .allow_bookmarks = query.Bool("allowWatchBookmarks").value_or(false),
                  .labels = std::move(labels),
                  .fields = std::move(fields)};
  return parsed;
}

meta::Result<registry::DeleteOptions> ParseDeleteQuery(const Query& query) {
  registry::DeleteOptions options;
  ASSIGN_OR_RETURN(options.grace_period_seconds, query.Integer("gracePeriodSeconds"));
  options.orphan_dependents = query.Bool("orphanDependents");
  options.ignore_read_error = query.Bool(kIgnoreReadError).value_or(false);
  if (!query.First("uid").empty()) options.uid = std::string(query.First("uid"));
  if (!query.First("resourceVersion").empty()) options.resource_version = std::string(query.First("resourceVersion"));
  if (query.Has("propagationPolicy")) options.propagation_policy = std::string(query.First("propagationPolicy"));
  const std::vector<std::string> dry_run = query.All("dryRun");
  options.dry_run = !dry_run.empty();
  RETURN_IF_ERROR(CheckDelete(options, dry_run));
  return options;
}

meta::Result<registry::DeleteOptions> ReadDeleteOptions(const json::object& document) {
  registry::DeleteOptions options;
  const auto text = [](const json::value* value) {
    return value && value->is_string() ? std::optional<std::string>(value->get_string()) : std::nullopt;
  };
  if (const json::value* grace = meta::FindField(document, "gracePeriodSeconds"); grace && grace->is_int64()) {
    options.grace_period_seconds = grace->get_int64();
  }
  if (const json::value* orphan = meta::FindField(document, "orphanDependents"); orphan && orphan->is_bool()) {
    options.orphan_dependents = orphan->get_bool();
  }
  if (const json::value* ignore = meta::FindField(document, kIgnoreReadError); ignore && ignore->is_bool()) {
    options.ignore_read_error = ignore->get_bool();
  }
  options.propagation_policy = text(meta::FindField(document, "propagationPolicy"));
  options.uid = text(meta::Find(document, "preconditions", "uid"));
  options.resource_version = text(meta::Find(document, "preconditions", "resourceVersion"));
  std::vector<std::string> dry_run;
  if (const json::value* values = meta::FindField(document, "dryRun"); values && values->is_array()) {
    for (const json::value& value : values->get_array()) {
      if (value.is_string()) dry_run.emplace_back(value.get_string());
    }
  }
  options.dry_run = !dry_run.empty();
  RETURN_IF_ERROR(CheckDelete(options, dry_run));
  return options;
}

std::string ManagerName(std::string_view field_manager, std::string_view user_agent) {
  if (!field_manager.empty()) return std::string(field_manager);
  std::string name;
  for (const char c : user_agent.substr(0, user_agent.find('/'))) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) continue;
    if (name.size() == kMaxManagerBytes) break;
    name += c;
  }
  return name.empty() ? "unknown" : name;
}

}  // namespace apimesh::endpoint
