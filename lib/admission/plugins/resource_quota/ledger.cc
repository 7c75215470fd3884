#include "lib/admission/plugins/resource_quota/ledger.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/admission/fields.h"

namespace apimesh::admission::resource_quota {
namespace {

std::vector<std::string> UsedNames(const Evaluator& evaluator, const Amounts& hard) {
  std::vector<std::string> names;
  for (const auto& [name, limit] : hard) {
    if (evaluator.Uses(name)) names.push_back(name);
  }
  return names;
}

/// Returns the requirements that an object meets.
meta::Result<std::vector<ScopeRequirement>> Met(const std::vector<ScopeRequirement>& requirements, const Scopes& scopes,
                                                std::string_view error_prefix) {
  std::vector<ScopeRequirement> met;
  for (const ScopeRequirement& requirement : requirements) {
    const boost::system::result<bool, std::string> matches = scopes.Match(requirement);
    if (!matches) return PlainError(fmt::format("{}{}", error_prefix, matches.error()));
    if (*matches) met.push_back(requirement);
  }
  return met;
}

bool MeetsAll(const Quota& quota, const Scopes& scopes) {
  return std::all_of(quota.scopes.begin(), quota.scopes.end(), [&scopes](const ScopeRequirement& requirement) {
    const boost::system::result<bool, std::string> matches = scopes.Match(requirement);
    return matches && *matches;
  });
}

/// Returns "cpu for: a,b; memory for: c", the amounts that a quota limits and some containers do not specify.
std::string Unspecified(const Measurement& measured, const std::vector<std::string>& limited) {
  std::vector<std::string> parts;
  for (const auto& [name, containers] : measured.unspecified) {
    if (std::find(limited.begin(), limited.end(), name) == limited.end()) continue;
    parts.push_back(fmt::format("{} for: {}", name, fmt::join(containers, ",")));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

/// Returns what a write adds to the usage. What it gives back is not subtracted; that is left to the quota controller,
/// which counts again.
Amounts Increase(const Amounts& now, const Amounts& before) {
  Amounts increase = now;
  for (const auto& [name, amount] : before) {
    const auto found = increase.find(name);
    if (found != increase.end()) found->second.Sub(amount);
  }
  std::erase_if(increase, [](const auto& entry) { return entry.second.Sign() <= 0; });
  return increase;
}

Amounts OnlyIn(const Amounts& amounts, const Amounts& names) {
  Amounts kept;
  for (const auto& [name, amount] : amounts) {
    if (names.contains(name)) kept.emplace(name, amount);
  }
  return kept;
}

/// Returns the limits that are smaller than the usage of what was requested.
Amounts Exceeded(const Amounts& requested, const Amounts& used, const Amounts& hard) {
  Amounts exceeded;
  for (const auto& [name, amount] : requested) {
    const auto limit = hard.find(name), usage = used.find(name);
    if (limit != hard.end() && usage != used.end() && usage->second > limit->second) exceeded.insert(*limit);
  }
  return exceeded;
}

/// The resources and scopes that may only be used where a quota covers them.
struct Limited {
  std::set<std::string> names;
  std::vector<ScopeRequirement> scopes;
};

Limited LimitedFor(const Demand& demand, const std::vector<LimitedResource>& configured) {
  Limited limited;
  const meta::GroupResource resource = demand.request.resource.GroupResource();
  for (const LimitedResource& one : configured) {
    for (const ScopeRequirement& requirement : one.match_scopes) {
      const boost::system::result<bool, std::string> matches = demand.now.scopes.Match(requirement);
      if (matches && *matches) limited.scopes.push_back(requirement);
    }
    if (one.resource != resource) continue;
    for (const auto& [name, amount] : demand.now.usage) {
      const bool matches =
          std::any_of(one.match_contains.begin(), one.match_contains.end(),
                      [&name](const std::string& part) { return name.find(part) != std::string::npos; });
      if (amount.Sign() > 0 && matches) limited.names.insert(name);
    }
  }
  return limited;
}

meta::Result<> CheckCovered(const Demand& demand, const Limited& limited, const std::set<std::string>& covered_names,
                            const std::set<std::string>& covered_scopes) {
  std::vector<std::string> names;
  std::set_difference(limited.names.begin(), limited.names.end(), covered_names.begin(), covered_names.end(),
                      std::back_inserter(names));
  if (!names.empty()) {
    return Forbidden(demand.request, fmt::format("insufficient quota to consume: {}", fmt::join(names, ",")));
  }
  std::vector<ScopeRequirement> scopes;
  for (const ScopeRequirement& requirement : limited.scopes) {
    if (!covered_scopes.contains(requirement.scope)) scopes.push_back(requirement);
  }
  if (!scopes.empty()) return PlainError(fmt::format("insufficient quota to match these scopes: {}", ToString(scopes)));
  return {};
}

}  // namespace

Ledger::Ledger(std::vector<QuotaPtr> quotas) {
  for (QuotaPtr& quota : quotas) {
    Amounts used = quota->used;
    entries_.push_back({std::move(quota), std::move(used)});
  }
}

meta::Result<bool> Ledger::Charge(const Demand& demand, const std::vector<LimitedResource>& limited_resources) {
  const Attributes& request = demand.request;
  const Limited limited = LimitedFor(demand, limited_resources);
  std::vector<Entry*> counting;
  std::set<std::string> covered_names, covered_scopes;
  for (Entry& entry : entries_) {
    const Quota& quota = *entry.quota;
    ASSIGN_OR_RETURN(
        const std::vector<ScopeRequirement> met,
        Met(quota.scopes, demand.now.scopes, fmt::format("error matching scopes of quota {}, err: ", quota.name)));
    for (const ScopeRequirement& requirement : met) covered_scopes.insert(requirement.scope);
    std::vector<std::string> names = UsedNames(*demand.evaluator, quota.hard);
    if (names.empty() || met.size() != quota.scopes.size()) continue;
    if (const std::string unspecified = Unspecified(demand.now, names); !unspecified.empty())
      return Forbidden(request, fmt::format("failed quota: {}: must specify {}", quota.name, unspecified));
    const bool known = std::all_of(names.begin(), names.end(),
                                   [&quota](const std::string& name) { return quota.used.contains(name); });
    if (!known) {
      return Forbidden(request,
                       fmt::format("status unknown for quota: {}, resources: {}", quota.name, ToString(names)));
    }
    counting.push_back(&entry);
    covered_names.insert(names.begin(), names.end());
  }
  std::vector<std::string> negative;
  for (const auto& [name, amount] : demand.now.usage) {
    if (amount.Sign() < 0) negative.push_back(name);
  }
  if (!negative.empty())
    return Forbidden(request, fmt::format("quota usage is negative for resource(s): {}", ToString(negative)));

  const Amounts all = Increase(demand.now.usage, {});
  const Amounts more = demand.before ? Increase(demand.now.usage, demand.before->usage) : all;
  // A quota that did not count the object before counts all of it now.
  const auto increase_of = [&](const Entry& entry) -> const Amounts& {
    return demand.before && MeetsAll(*entry.quota, demand.before->scopes) ? more : all;
  };
  std::erase_if(counting, [&](const Entry* entry) { return increase_of(*entry).empty(); });
  if (counting.empty() && (covered_names.empty() ? more.empty() : true)) return false;
  RETURN_IF_ERROR(CheckCovered(demand, limited, covered_names, covered_scopes));

  std::vector<Amounts> usage;
  for (const Entry* entry : counting) {
    const Quota& quota = *entry->quota;
    const Amounts requested = OnlyIn(increase_of(*entry), quota.hard);
    Amounts used = entry->used;
    AddAmounts(used, requested);
    // A write of the status cannot be refused: it reports what has already happened.
    const Amounts exceeded = request.subresource == "status" ? Amounts() : Exceeded(requested, used, quota.hard);
    if (!exceeded.empty()) {
      return Forbidden(request, fmt::format("exceeded quota: {}, requested: {}, used: {}, limited: {}", quota.name,
                                            ToString(OnlyIn(requested, exceeded)),
                                            ToString(OnlyIn(entry->used, exceeded)), ToString(exceeded)));
    }
    usage.push_back(std::move(used));
  }
  bool changed = false;
  for (std::size_t i = 0; i < counting.size() && !request.dry_run; ++i) {
    if (usage[i] == counting[i]->used) continue;
    counting[i]->used = std::move(usage[i]);
    counting[i]->changed = changed = true;
  }
  return changed;
}

}  // namespace apimesh::admission::resource_quota
