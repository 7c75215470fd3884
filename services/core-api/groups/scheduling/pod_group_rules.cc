#include "services/core-api/groups/scheduling/pod_group_rules.h"

#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/meta/equal.h"
#include "services/core-api/validation/texts.h"

namespace apimesh::core_api {
namespace {

constexpr std::size_t kMaxClaims = 4, kMaxTopologies = 1;
constexpr std::int64_t kHighestPriority = 1'000'000'000;

/// Checks that exactly one of two fields is set.
void ValidateUnion(const Check& holder, const std::vector<std::string_view>& fields) {
  std::vector<std::string_view> given;
  std::vector<std::string> all;
  for (const std::string_view field : fields) {
    if (holder.Has(field)) given.push_back(field);
    all.push_back(fmt::format("`{}`", field));
  }
  if (given.size() == 1) return;
  const std::string path = holder.Path().ToString(), choices = fmt::format("{}", fmt::join(all, ", "));
  if (given.empty()) {
    holder.Add(meta::Invalid(path, meta::Quoted(""), "must specify one of: " + choices));
  } else {
    holder.Add(meta::Invalid(path, meta::Quoted(fmt::format("{{{}}}", fmt::join(given, ", "))),
                             "must specify exactly one of: " + choices));
  }
}

void ValidatePolicy(const Check& group) {
  static const meta::json::object kEmpty;
  const std::optional<Check> given = group.Child("schedulingPolicy");
  meta::FieldErrors errors;
  const Check policy(given ? given->Object() : kEmpty, group.Path().Child("schedulingPolicy"), errors);
  ValidateUnion(policy, {"basic", "gang"});
  for (meta::FieldError& error : errors) group.Add(std::move(error));
  const std::optional<Check> gang = policy.Child("gang");
  if (!gang) return;
  const std::int64_t count = gang->Number("minCount").value_or(0);
  const std::string path = policy.Path().Child("gang").Child("minCount").ToString();
  if (count == 0) {
    group.Add(meta::Required(path, ""));
  } else if (count < 1) {
    group.Add(meta::Invalid(path, fmt::format("{}", count), "must be greater than or equal to 1"));
  }
}

void ValidateClaims(const Check& group) {
  if (const std::size_t count = SizeOf(group, "resourceClaims"); count > kMaxClaims) {
    group.Add(meta::TooMany(group.Path().Child("resourceClaims").ToString(), count, kMaxClaims));
    return;
  }
  std::set<std::string_view> names;
  for (const Check& claim : group.Each("resourceClaims")) {
    const std::string_view name = claim.Text("name");
    if (!names.insert(name).second) {
      const meta::json::value shown(claim.Object());
      claim.Add(meta::Duplicate(claim.Path().ToString(), Shown(&shown)));
    }
    ValidateUnion(claim, {"resourceClaimName", "resourceClaimTemplateName"});
    claim.RequireName("name", meta::CheckDnsLabel);
    for (const char* field : {"resourceClaimName", "resourceClaimTemplateName"}) {
      if (claim.Has(field)) CheckText(claim, claim.Path().Child(field), claim.Text(field), meta::CheckDnsSubdomain);
    }
  }
}

}  // namespace

void ValidatePodGroupFields(const Check& group) {
  ValidatePolicy(group);
  if (const std::optional<Check> constraints = group.Child("schedulingConstraints")) {
    if (const std::size_t count = SizeOf(*constraints, "topology"); count > kMaxTopologies) {
      constraints->Add(meta::TooMany(constraints->Path().Child("topology").ToString(), count, kMaxTopologies));
    } else {
      for (const Check& topology : constraints->Each("topology")) topology.RequireName("key", meta::CheckQualifiedName);
    }
  }
  ValidateClaims(group);
  group.OneOf("disruptionMode", {"Pod", "PodGroup"});
  group.Names("priorityClassName", meta::CheckDnsSubdomain);
  if (group.Number("priority").value_or(0) > kHighestPriority) {
    group.Invalid("priority", fmt::format("must be less than or equal to {}", kHighestPriority));
  }
}

void ValidateUnchanged(const Check& holder, std::string_view field, const meta::json::object* old) {
  if (!old || meta::Equal(meta::FindField(holder.Object(), field), meta::FindField(*old, field))) return;
  holder.Add(meta::Invalid(holder.Path().Child(field).ToString(), "null", "field is immutable"));
}

}  // namespace apimesh::core_api
