#include "services/core-api/validation/resource_names.h"

#include <algorithm>

#include "services/core-api/validation/quantities.h"

namespace apimesh::core_api {
namespace {

constexpr std::string_view kContainer[] = {"cpu", "memory", "ephemeral-storage"};
constexpr std::string_view kCompute[] = {"cpu",
                                         "memory",
                                         "ephemeral-storage",
                                         "requests.cpu",
                                         "requests.memory",
                                         "requests.storage",
                                         "requests.ephemeral-storage",
                                         "limits.cpu",
                                         "limits.memory",
                                         "limits.ephemeral-storage"};
constexpr std::string_view kCounted[] = {
    "pods",       "resourcequotas",         "services",           "replicationcontrollers", "secrets",
    "configmaps", "persistentvolumeclaims", "services.nodeports", "services.loadbalancers"};

template <std::size_t N>
bool IsOneOf(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

bool IsQualified(std::string_view name) { return name.find('/') != std::string_view::npos; }

bool IsStandardResource(std::string_view name) { return name == "storage" || IsStandardQuotaResource(name); }

/// Whether the name is that of an extended resource: its domain is not that of Kubernetes, and it is still a valid name
/// with the prefix that quotas use.
bool IsExtendedResource(std::string_view name) {
  if (IsNativeResource(name) || name.starts_with("requests.")) return false;
  return meta::CheckQualifiedName("requests." + std::string(name)).empty();
}

void Complain(const Check& holder, const meta::Path& path, std::string_view name, std::string detail) {
  holder.Add(meta::Invalid(path.ToString(), meta::Quoted(name), std::move(detail)));
}

}  // namespace

bool IsStandardQuotaResource(std::string_view name) {
  return IsOneOf(kCompute, name) || IsOneOf(kCounted, name) || IsHugePages(name) ||
         name.starts_with("requests.hugepages-");
}

bool IsIntegerResource(std::string_view name) { return IsOneOf(kCounted, name) || IsExtendedResource(name); }

void ValidateResourceName(const Check& holder, const meta::Path& path, std::string_view name) {
  meta::Complaints complaints = meta::CheckQualifiedName(name);
  for (std::string& complaint : complaints) Complain(holder, path, name, std::move(complaint));
  if (complaints.empty() && !IsQualified(name) && !IsStandardResource(name))
    Complain(holder, path, name, "must be a standard resource type or fully qualified");
}

void ValidateContainerResourceName(const Check& holder, const meta::Path& path, std::string_view name) {
  ValidateResourceName(holder, path, name);
  if (!IsQualified(name)) {
    if (!IsOneOf(kContainer, name) && !IsHugePages(name))
      Complain(holder, path, name, "must be a standard resource for containers");
  } else if (!IsNativeResource(name) && !IsExtendedResource(name)) {
    Complain(holder, path, name, "doesn't follow extended resource name standard");
  }
}

void ValidatePodResourceName(const Check& holder, const meta::Path& path, std::string_view name) {
  meta::FieldErrors errors;
  ValidateResourceName(Check(holder.Object(), path, errors), path, name);
  if (errors.empty() && name != "cpu" && name != "memory" && !IsHugePages(name))
    errors.push_back(meta::NotSupported(path.ToString(), meta::Quoted(name), {"cpu", "hugepages-", "memory"}));
  for (meta::FieldError& error : errors) holder.Add(std::move(error));
}

void ValidateQuotaResourceName(const Check& holder, const meta::Path& path, std::string_view name) {
  ValidateResourceName(holder, path, name);
  if (!IsQualified(name) && !IsStandardQuotaResource(name))
    Complain(holder, path, name, "must be a standard resource for quota");
}

void ValidateResourceAmount(const Check& holder, const meta::Path& path, std::string_view name,
                            const meta::Quantity& amount) {
  if (amount.Sign() < 0) Complain(holder, path, amount.ToString(), "must be greater than or equal to 0");
  if (IsIntegerResource(name) && amount.MilliValue() % 1000 != 0)
    Complain(holder, path, amount.ToString(), "must be an integer");
}

void ValidatePositive(const Check& holder, const meta::Path& path, const meta::Quantity& amount) {
  if (amount.Sign() <= 0) Complain(holder, path, amount.ToString(), "must be greater than zero");
}

std::optional<meta::Quantity> QuantityOf(const meta::json::value* value) {
  if (!value || !value->is_string()) return std::nullopt;
  const auto amount = meta::Quantity::Parse(value->get_string());
  if (!amount) return std::nullopt;
  return *amount;
}

}  // namespace apimesh::core_api
