#include "lib/admission/plugins/limit_ranger/limits.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/admission/fields.h"
#include "lib/admission/pod_resources.h"

namespace apimesh::admission::limit_ranger {
namespace {

using meta::FindString;
using meta::Quantity;

constexpr std::int64_t kMaxMilliValue = 9223372036854775;

/// Sets what `defaults` has and `kind` ("limits" or "requests") of a container has not. Returns a description, or "".
std::string FillIn(json::object& container, std::string_view kind, const Amounts& defaults, std::string_view what) {
  std::vector<std::string> set;
  for (const auto& [name, amount] : defaults) {
    if (Has(ObjectAt(ObjectAt(container, "resources"), kind), name)) continue;
    meta::MakeObject(meta::MakeObject(container, "resources"), kind)[name] = amount.ToString();
    set.push_back(name);
  }
  if (set.empty()) return "";
  return fmt::format("{} {} for {} {}", fmt::join(set, ", "), kind == "limits" ? "limit" : "request", what,
                     FindString(container, "name"));
}

/// One limit and the amounts that it applies to.
struct Subject {
  std::string_view type;  // "Container", "Pod", "PersistentVolumeClaim"
  const Amounts& requests;
  const Amounts& limits;
};

/// The three amounts in a common unit: thousandths, if none is too large for that.
struct Comparable {
  std::int64_t request, limit, enforced;
};

const Quantity* Find(const Amounts& amounts, const std::string& name) {
  const auto found = amounts.find(name);
  return found == amounts.end() ? nullptr : &found->second;
}

Comparable InCommonUnit(const Quantity* request, const Quantity* limit, const Quantity& enforced) {
  static const Quantity kZero;
  const Quantity &one = request ? *request : kZero, &other = limit ? *limit : kZero;
  const Comparable values{one.Value(), other.Value(), enforced.Value()};
  if (values.request > kMaxMilliValue || values.limit > kMaxMilliValue || values.enforced > kMaxMilliValue)
    return values;
  return {one.MilliValue(), other.MilliValue(), enforced.MilliValue()};
}

std::string CheckMin(const Subject& subject, const std::string& name, const Quantity& enforced) {
  const Quantity *request = Find(subject.requests, name), *limit = Find(subject.limits, name);
  const Comparable values = InCommonUnit(request, limit, enforced);
  const std::string about = fmt::format("minimum {} usage per {} is {}", name, subject.type, enforced.ToString());
  if (!request) return about + ".  No request is specified";
  if (values.request < values.enforced) return fmt::format("{}, but request is {}", about, request->ToString());
  if (limit && values.limit < values.enforced) return fmt::format("{}, but limit is {}", about, limit->ToString());
  return "";
}

std::string CheckMax(const Subject& subject, const std::string& name, const Quantity& enforced) {
  const Quantity *request = Find(subject.requests, name), *limit = Find(subject.limits, name);
  const Comparable values = InCommonUnit(request, limit, enforced);
  const std::string about = fmt::format("maximum {} usage per {} is {}", name, subject.type, enforced.ToString());
  if (!limit) return about + ".  No limit is specified";
  if (values.limit > values.enforced) return fmt::format("{}, but limit is {}", about, limit->ToString());
  if (request && values.request > values.enforced)
    return fmt::format("{}, but request is {}", about, request->ToString());
  return "";
}

/// The maximum of a claim, which has no limits.
std::string CheckMaxRequest(const Subject& subject, const std::string& name, const Quantity& enforced) {
  const Quantity* request = Find(subject.requests, name);
  const Comparable values = InCommonUnit(request, nullptr, enforced);
  const std::string about = fmt::format("maximum {} usage per {} is {}", name, subject.type, enforced.ToString());
  if (!request) return about + ".  No request is specified";
  if (values.request > values.enforced) return fmt::format("{}, but request is {}", about, request->ToString());
  return "";
}

std::string CheckRatio(const Subject& subject, const std::string& name, const Quantity& enforced) {
  const Quantity *request = Find(subject.requests, name), *limit = Find(subject.limits, name);
  const Comparable values = InCommonUnit(request, limit, enforced);
  const std::string about =
      fmt::format("{} max limit to request ratio per {} is {}", name, subject.type, enforced.ToString());
  if (!request || values.request == 0) return about + ", but no request is specified or request is 0";
  if (!limit || values.limit == 0) return about + ", but no limit is specified or limit is 0";
  const double ratio = static_cast<double>(values.limit) / static_cast<double>(values.request);
  const bool precise = enforced.Value() <= kMaxMilliValue;
  const double most = static_cast<double>(precise ? enforced.MilliValue() : enforced.Value());
  if ((precise ? ratio * 1000 : ratio) <= most) return "";
  return fmt::format("{}, but provided ratio is {:f}", about, ratio);
}

using CheckOne = std::string (*)(const Subject& subject, const std::string& name, const Quantity& enforced);

/// Checks every amount in the list `field` of a limit.
void CheckEach(const json::object& limit, std::string_view field, CheckOne check, const Subject& subject,
               std::vector<std::string>& errors) {
  for (const auto& [name, amount] : ReadAmounts(ObjectAt(limit, field))) {
    if (std::string error = check(subject, name, amount); !error.empty()) errors.push_back(std::move(error));
  }
}

void CheckLimit(const json::object& limit, const Subject& subject, std::vector<std::string>& errors) {
  CheckEach(limit, "min", &CheckMin, subject, errors);
  CheckEach(limit, "max", &CheckMax, subject, errors);
  CheckEach(limit, "maxLimitRequestRatio", &CheckRatio, subject, errors);
}

}  // namespace

void SetDefaults(const meta::Object& limit_range, meta::Object& pod) {
  Amounts requests, limits;
  ForEach(SpecOf(limit_range), "limits", [&](const json::object& limit) {
    if (FindString(limit, "type") != "Container") return;
    for (auto& [name, amount] : ReadAmounts(ObjectAt(limit, "defaultRequest"))) requests[name] = amount;
    for (auto& [name, amount] : ReadAmounts(ObjectAt(limit, "default"))) limits[name] = amount;
  });
  if (requests.empty() && limits.empty()) return;
  std::vector<std::string> set;
  const auto fill = [&](std::string_view list, std::string_view what) {
    ForEach(SpecOf(pod), list, [&](json::object& container) {
      std::string limits_set = FillIn(container, "limits", limits, what);
      std::string requests_set = FillIn(container, "requests", requests, what);
      if (!requests_set.empty()) set.push_back(std::move(requests_set));
      if (!limits_set.empty()) set.push_back(std::move(limits_set));
    });
  };
  fill("containers", "container");
  fill("initContainers", "init container");
  if (set.empty()) return;
  meta::MakeObject(pod.Metadata(), "annotations")["kubernetes.io/limit-ranger"] =
      fmt::format("LimitRanger plugin set: {}", fmt::join(set, "; "));
}

std::vector<std::string> CheckPod(const meta::Object& limit_range, const meta::Object& pod) {
  std::vector<std::string> errors;
  const json::object& spec = SpecOf(pod);
  ForEach(SpecOf(limit_range), "limits", [&](const json::object& limit) {
    const std::string_view type = FindString(limit, "type");
    if (type == "Container") {
      for (const char* list : {"containers", "initContainers"}) {
        ForEach(spec, list, [&](const json::object& container) {
          const json::object& resources = ObjectAt(container, "resources");
          const Amounts requests = ReadAmounts(ObjectAt(resources, "requests"));
          const Amounts limits = ReadAmounts(ObjectAt(resources, "limits"));
          CheckLimit(limit, {type, requests, limits}, errors);
        });
      }
    } else if (type == "Pod") {
      const Amounts requests = PodTotal(spec, "requests", &IsCpuOrMemory);
      const Amounts limits = PodTotal(spec, "limits", &IsCpuOrMemory);
      CheckLimit(limit, {type, requests, limits}, errors);
    }
  });
  return errors;
}

std::vector<std::string> CheckClaim(const meta::Object& limit_range, const meta::Object& claim) {
  std::vector<std::string> errors;
  const Amounts requests = ReadAmounts(ObjectAt(ObjectAt(SpecOf(claim), "resources"), "requests")), none;
  ForEach(SpecOf(limit_range), "limits", [&](const json::object& limit) {
    if (FindString(limit, "type") != "PersistentVolumeClaim") return;
    const Subject subject{"PersistentVolumeClaim", requests, none};
    CheckEach(limit, "min", &CheckMin, subject, errors);
    CheckEach(limit, "max", &CheckMaxRequest, subject, errors);
  });
  return errors;
}

}  // namespace apimesh::admission::limit_ranger
