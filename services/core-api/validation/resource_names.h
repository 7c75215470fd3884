#pragma once

#include <string_view>

#include "lib/meta/quantity.h"
#include "services/core-api/validation/check.h"

/// Names of resources (cpu, requests.storage, example.com/gpu), as containers, quotas and limit ranges use them.
namespace apimesh::core_api {

/// Whether the name is one that Kubernetes defines for quotas.
bool IsStandardQuotaResource(std::string_view name);
/// Whether the resource is counted in whole numbers.
bool IsIntegerResource(std::string_view name);

// The rules for names. `path` is the path of the name, and `holder` receives the errors.
void ValidateResourceName(const Check& holder, const meta::Path& path, std::string_view name);
void ValidateContainerResourceName(const Check& holder, const meta::Path& path, std::string_view name);
/// A resource that a pod can request as a whole.
void ValidatePodResourceName(const Check& holder, const meta::Path& path, std::string_view name);
void ValidateQuotaResourceName(const Check& holder, const meta::Path& path, std::string_view name);

/// Checks that an amount of a resource is not negative, and is a whole number if the resource is counted.
void ValidateResourceAmount(const Check& holder, const meta::Path& path, std::string_view name,
                            const meta::Quantity& amount);
/// Checks that a quantity is greater than zero.
void ValidatePositive(const Check& holder, const meta::Path& path, const meta::Quantity& amount);

/// Returns the quantity of a value, or nullopt if there is none.
std::optional<meta::Quantity> QuantityOf(const meta::json::value* value);

}  // namespace apimesh::core_api
