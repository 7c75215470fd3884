#pragma once

#include <functional>
#include <map>
#include <set>
#include <string_view>

#include "services/core-api/validation/check.h"

/// Rules of devices that the kinds of this group share.
namespace apimesh::core_api {

class DeviceSelectorRules;

/// The names of the requests of a claim, with the names of their subrequests.
using RequestNames = std::map<std::string_view, std::set<std::string_view>>;
RequestNames RequestNamesOf(const Check& devices);

/// Sets the number of devices of requests that need one.
void DefaultDeviceClaim(meta::json::object& claim_spec);
/// Validates the spec of a claim: requests, constraints and configurations. `stored`: the spec of the stored object is
/// the same.
void ValidateDeviceClaim(const Check& claim_spec, const DeviceSelectorRules& selectors, bool stored);

/// Validates the items of a list with at most `max` items. Returns false if there are more.
bool ValidateAtMost(const Check& holder, std::string_view field, std::size_t max,
                    const std::function<void(const Check&)>& validate);
/// Adds "duplicate" for each item of a list whose text in `key` occurred before.
void ValidateUnique(const Check& holder, std::string_view field, std::string_view key);
/// Validates a list of texts: at most `max`, each valid, without duplicates.
void ValidateTextSet(const Check& holder, std::string_view field, std::size_t max,
                     const std::function<void(const meta::Path&, std::string_view)>& validate);

/// Validates a text as a DNS label, even if it is empty.
void ValidateLabelName(const Check& holder, std::string_view field);
/// Validates the name of a pool: DNS subdomains separated by slashes.
void ValidatePoolName(const Check& holder, std::string_view field);
/// Validates the name of an attribute: a C identifier, with an optional domain and slash.
void ValidateAttributeName(const Check& holder, const meta::Path& path, std::string_view name);
/// Validates an item of the field "config" of claims and classes.
void ValidateDeviceConfiguration(const Check& config);
/// Validates a reference to a request of the claim, or to a subrequest of it.
void ValidateRequestReference(const Check& holder, const meta::Path& path, std::string_view name,
                              const RequestNames& requests);
/// Validates bindingConditions and bindingFailureConditions.
void ValidateBindingConditions(const Check& holder);
/// Validates a taint of a device.
void ValidateDeviceTaint(const Check& taint);
/// Validates the UUID of a share.
void ValidateShareId(const Check& holder);

inline constexpr std::size_t kMaxRequests = 32, kMaxDeviceConfigs = 32;

}  // namespace apimesh::core_api
