#include "services/core-api/groups/resource/resourceclaim/status.h"

#include <algorithm>

#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "lib/meta/equal.h"
#include "services/core-api/groups/core/persistentvolume/validation.h"
#include "services/core-api/groups/core/pod_spec/validation.h"
#include "services/core-api/groups/resource/device_rules.h"
#include "services/core-api/validation/cidr_rules.h"
#include "services/core-api/validation/conditions.h"
#include "services/core-api/validation/spec_fields.h"
#include "services/core-api/validation/texts.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

constexpr std::size_t kMaxReserved = 256, kMaxResults = 32, kMaxStatusConditions = 8, kMaxData = 10 * 1024;

std::set<std::string> AllocatedDevices(const json::object& root) {
  std::set<std::string> ids;
  for (const json::object& result : Objects(meta::Find(root, "status", "allocation", "devices", "results")))
    ids.insert(DeviceId(result));
  return ids;
}

/// Validates the data of the driver, which can be any JSON object.
void ValidateDeviceData(const Check& device) {
  const json::value* data = meta::FindField(device.Object(), "data");
  if (!data) return;
  const std::string path = device.Path().Child("data").ToString();
  if (data->is_null()) {
    device.Add(meta::Required(path, ""));
  } else if (boost::json::serialize(*data).size() > kMaxData) {
    device.Add(meta::TooLong(path, kMaxData));
  } else if (!data->is_object()) {
    device.Add(meta::Invalid(path, "\"<value omitted>\"", "must be a valid JSON object"));
  }
}

/// Checks an address with the length of its prefix, such as 10.9.8.7/24.
meta::Complaints CheckInterfaceAddress(std::string_view text) {
  const std::optional<Cidr> parsed = ParseCidr(text);
  if (!parsed) return {"must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"};
  const std::string canonical = fmt::format("{}/{}", parsed->address.to_string(), parsed->bits);
  if (text == canonical) return {};
  return {fmt::format("must be in canonical form ({})", meta::Quoted(canonical))};
}

void ValidateNetworkData(const Check& network) {
  constexpr std::size_t kMaxInterfaceName = 256, kMaxHardwareAddress = 128, kMaxIps = 16;
  for (const auto& [field, max] :
       {std::pair("interfaceName", kMaxInterfaceName), std::pair("hardwareAddress", kMaxHardwareAddress)}) {
    if (network.Text(field).size() > max) network.Add(meta::TooLong(network.Path().Child(field).ToString(), max));
  }
  ValidateTextSet(network, "ips", kMaxIps, [&network](const meta::Path& path, std::string_view text) {
    CheckText(network, path, text, &CheckInterfaceAddress);
  });
}

void ValidateDeviceStatus(const Check& device, const std::set<std::string>& allocated) {
  ValidateCsiDriverName(device, "driver");
  ValidatePoolName(device, "pool");
  ValidateLabelName(device, "device");
  ValidateShareId(device);
  if (!allocated.contains(DeviceId(device.Object()))) {
    device.Add(
        meta::Invalid(device.Path().ToString(), DeviceId(device.Object()), "must be an allocated device in the claim"));
  }
  const std::size_t conditions = SizeOf(device, "conditions");
  if (conditions > kMaxStatusConditions)
    device.Add(meta::TooMany(device.Path().Child("conditions").ToString(), conditions, kMaxStatusConditions));
  ValidateConditions(device);
  ValidateDeviceData(device);
  if (const std::optional<Check> network = device.Child("networkData")) ValidateNetworkData(*network);
}

void ValidateResult(const Check& result, const RequestNames& requests) {
  ValidateRequestReference(result, result.Path().Child("request"), result.Text("request"), requests);
  ValidateCsiDriverName(result, "driver");
  ValidatePoolName(result, "pool");
  ValidateLabelName(result, "device");
  ValidateBindingConditions(result);
  ValidateShareId(result);
}

void ValidateAllocation(const Check& allocation, const RequestNames& requests) {
  if (const std::optional<Check> devices = allocation.Child("devices")) {
    ValidateAtMost(*devices, "results", kMaxResults,
                   [&requests](const Check& result) { ValidateResult(result, requests); });
    ValidateAtMost(*devices, "config", 2 * kMaxDeviceConfigs, [&requests](const Check& config) {
      config.RequireOneOf("source", {"FromClaim", "FromClass"});
      ValidateTextSet(config, "requests", kMaxRequests, [&](const meta::Path& path, std::string_view name) {
        ValidateRequestReference(config, path, name, requests);
      });
      ValidateDeviceConfiguration(config);
    });
  }
  if (const std::optional<Check> selector = allocation.Child("nodeSelector")) ValidateNodeSelector(*selector, true);
}

/// Returns whether an entry of status.reservedFor is new.
bool AddsConsumer(const Check& status, const meta::Object& old) {
  const auto before = Objects(meta::Find(old.Root(), "status", "reservedFor"));
  for (const Check& consumer : status.Each("reservedFor")) {
    const auto same = [&consumer](const json::object& other) { return meta::Equal(consumer.Object(), other); };
    if (std::none_of(before.begin(), before.end(), same)) return true;
  }
  return false;
}

void ValidateReservations(const Check& status, const meta::Object& claim, const meta::Object& old) {
  const auto validate = [](const Check& consumer) {
    for (const char* field : {"resource", "name", "uid"}) consumer.Require(field);
  };
  if (ValidateAtMost(status, "reservedFor", kMaxReserved, validate)) ValidateUnique(status, "reservedFor", "uid");
  const std::set<std::string> allocated = AllocatedDevices(claim.Root());
  std::set<std::string> seen;
  for (const Check& device : status.Each("devices")) ValidateDeviceStatus(device, allocated);
  for (const Check& device : status.Each("devices")) {
    const std::string id = DeviceId(device.Object());
    if (!seen.insert(id).second) device.Add(meta::Duplicate(device.Path().ToString(), id));
  }
  if (SizeOf(status, "reservedFor") == 0) return;
  if (!status.Has("allocation")) {
    status.Forbid("reservedFor", "may not be specified when `allocated` is not set");
  } else if (!claim.DeletionTimestamp().empty() && AddsConsumer(status, old)) {
    status.Forbid("reservedFor",
                  "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set");
  }
}

}  // namespace

std::string DeviceId(const json::object& device) {
  const std::string_view share = meta::FindString(device, "shareID");
  return fmt::format("{}/{}/{}{}{}", meta::FindString(device, "driver"), meta::FindString(device, "pool"),
                     meta::FindString(device, "device"), share.empty() ? "" : "/", share);
}

void DropDeallocatedDevices(meta::Object& claim, const meta::Object& old) {
  std::set<std::string> gone = AllocatedDevices(old.Root());
  for (const std::string& id : AllocatedDevices(claim.Root())) gone.erase(id);
  json::value* devices = meta::Find(claim.Root(), "status", "devices");
  if (gone.empty() || !devices || !devices->is_array()) return;
  json::array kept;
  for (json::value& device : devices->get_array()) {
    if (!device.is_object() || !gone.contains(DeviceId(device.get_object()))) kept.push_back(std::move(device));
  }
  if (kept.empty()) {
    meta::EraseField(meta::MakeObject(claim.Root(), "status"), "devices");
  } else {
    *devices = std::move(kept);
  }
}

meta::FieldErrors ValidateClaimStatus(const meta::Object& claim, const meta::Object& old) {
  meta::FieldErrors errors;
  const std::optional<Check> status = Check(claim.Root(), meta::Path(), errors).Child("status");
  if (!status) return errors;
  const std::optional<Check> devices = SpecOf(claim, errors).Child("devices");
  const RequestNames requests = devices ? RequestNamesOf(*devices) : RequestNames();
  ValidateReservations(*status, claim, old);
  const json::value* before = meta::Find(old.Root(), "status", "allocation");
  if (before && status->Has("allocation")) {
    if (!meta::Equal(meta::FindField(status->Object(), "allocation"), before))
      status->Invalid("allocation", "field is immutable");
  } else if (const std::optional<Check> allocation = status->Child("allocation")) {
    ValidateAllocation(*allocation, requests);
  }
  return errors;
}

}  // namespace apimesh::core_api
