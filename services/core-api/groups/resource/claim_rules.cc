#include <fmt/format.h>

#include "services/core-api/groups/resource/device_rules.h"
#include "services/core-api/groups/resource/device_selectors.h"
#include "services/core-api/validation/texts.h"
#include "services/core-api/validation/walk.h"

/// The rules of the requests, constraints and configurations of a claim.
namespace apimesh::core_api {
namespace {

namespace json = meta::json;

constexpr std::size_t kMaxConstraints = 32, kMaxSubrequests = 8;

void DefaultCount(json::object& request) {
  if (meta::FindString(request, "allocationMode") != "ExactCount") return;
  const json::value* count = meta::FindField(request, "count");
  if (!count || !count->is_int64() || count->get_int64() == 0) request["count"] = 1;
}

void ValidateToleration(const Check& toleration) {
  const std::string_view op = toleration.Text("operator"), effect = toleration.Text("effect");
  toleration.Names("key", meta::CheckQualifiedName);
  if (op == "Exists") {
    if (!toleration.Text("value").empty()) toleration.Invalid("value", "must be empty for operator `Exists`");
  } else if (op == "Equal") {
    toleration.Names("value", meta::CheckLabelValue);
  } else {
    toleration.RequireOneOf("operator", {"Equal", "Exists"});
  }
  if (!effect.empty()) toleration.OneOf("effect", {"NoExecute", "NoSchedule", "None"});
}

using ValidateSelectors = std::function<void(const Check& holder)>;

/// Validates the fields that a request and a subrequest have.
void ValidateRequestFields(const Check& request, const ValidateSelectors& selectors) {
  request.RequireName("deviceClassName", meta::CheckDnsSubdomain);
  selectors(request);
  const std::string_view mode = request.Text("allocationMode");
  const std::int64_t count = request.Number("count").value_or(0);
  const std::string path = request.Path().Child("count").ToString();
  if (mode == "All") {
    if (count != 0) request.Invalid("count", "must not be specified when allocationMode is 'All'");
  } else if (mode == "ExactCount") {
    if (count <= 0) request.Add(meta::Invalid(path, fmt::format("{}", count), "must be greater than zero"));
  } else {
    request.OneOf("allocationMode", {"All", "ExactCount"});
  }
  for (const Check& toleration : request.Each("tolerations")) ValidateToleration(toleration);
}

void ValidateRequest(const Check& request, const ValidateSelectors& selectors) {
  ValidateLabelName(request, "name");
  const std::optional<Check> exactly = request.Child("exactly");
  const bool first = SizeOf(request, "firstAvailable") > 0;
  const std::string path = request.Path().ToString();
  constexpr const char* kOne = "exactly one of `exactly` or `firstAvailable` is required";
  if (!exactly && !first) {
    request.Add(meta::Required(path, kOne));
  } else if (exactly && first) {
    request.Add(meta::Invalid(path, "null", fmt::format("{}, but multiple fields are set", kOne)));
  } else if (exactly) {
    ValidateRequestFields(*exactly, selectors);
  } else {
    const auto validate = [&selectors](const Check& subrequest) {
      ValidateLabelName(subrequest, "name");
      ValidateRequestFields(subrequest, selectors);
    };
    if (ValidateAtMost(request, "firstAvailable", kMaxSubrequests, validate))
      ValidateUnique(request, "firstAvailable", "name");
  }
}

void ValidateReferences(const Check& holder, const RequestNames& requests) {
  ValidateTextSet(holder, "requests", kMaxRequests, [&](const meta::Path& path, std::string_view name) {
    ValidateRequestReference(holder, path, name, requests);
  });
}

void ValidateConstraint(const Check& constraint, const RequestNames& requests) {
  ValidateReferences(constraint, requests);
  for (const char* field : {"matchAttribute", "distinctAttribute"}) {
    if (!constraint.Has(field)) continue;
    const std::string_view name = constraint.Text(field);
    ValidateAttributeName(constraint, constraint.Path().Child(field), name);
    if (name.find('/') == std::string_view::npos)
      constraint.Invalid(field, "a fully qualified name must be a domain and a name separated by a slash");
    return;
  }
  constraint.Add(meta::Required(
      constraint.Path().ToString(),
      R"(exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set)"));
}

}  // namespace

RequestNames RequestNamesOf(const Check& devices) {
  RequestNames names;
  for (const Check& request : devices.Each("requests")) {
    std::set<std::string_view>& subrequests = names[request.Text("name")];
    for (const Check& subrequest : request.Each("firstAvailable")) subrequests.insert(subrequest.Text("name"));
  }
  return names;
}

void DefaultDeviceClaim(json::object& claim_spec) {
  for (json::object& request : Objects(meta::Find(claim_spec, "devices", "requests"))) {
    json::value* exactly = meta::FindField(request, "exactly");
    if (exactly && exactly->is_object()) DefaultCount(exactly->get_object());
    for (json::object& subrequest : Objects(meta::FindField(request, "firstAvailable"))) DefaultCount(subrequest);
  }
}

void ValidateDeviceClaim(const Check& claim_spec, const DeviceSelectorRules& selectors, bool stored) {
  const std::optional<Check> devices = claim_spec.Child("devices");
  if (!devices) return;
  const RequestNames requests = RequestNamesOf(*devices);
  using Origin = DeviceSelectorRules::Origin;
  const ValidateSelectors validate = [&selectors, stored](const Check& holder) {
    selectors.Validate(holder, stored ? Origin::kStored : Origin::kNew);
  };
  if (ValidateAtMost(*devices, "requests", kMaxRequests,
                     [&validate](const Check& request) { ValidateRequest(request, validate); }))
    ValidateUnique(*devices, "requests", "name");
  ValidateAtMost(*devices, "constraints", kMaxConstraints,
                 [&requests](const Check& constraint) { ValidateConstraint(constraint, requests); });
  ValidateAtMost(*devices, "config", kMaxDeviceConfigs, [&requests](const Check& config) {
    ValidateReferences(config, requests);
    ValidateDeviceConfiguration(config);
  });
}

}  // namespace apimesh::core_api
