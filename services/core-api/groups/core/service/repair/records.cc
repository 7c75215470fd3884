#include "services/core-api/groups/core/service/repair/records.h"

#include <fmt/format.h>

#include "lib/codec/codec.h"
#include "lib/codec/json/json_parts.h"
#include "lib/meta/time.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/core/service/ip_address_object.h"
#include "services/core-api/validation/ip_rules.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

Reference ReferenceTo(const json::object& root, std::string_view api_version, std::string_view kind) {
  const auto text = [&](std::string_view field) { return std::string(meta::FindString(root, "metadata", field)); };
  return {std::string(api_version), std::string(kind), text("namespace"), text("name"), text("uid"),
          text("resourceVersion")};
}

WallTime CreationTime(const json::object& root) {
  return meta::ParseTime(meta::FindString(root, "metadata", "creationTimestamp")).value_or(WallTime());
}

/// Parses the fields of `mask`, and calls `read` with the object.
template <class Read>
auto WithFields(std::string_view text, const meta::FieldMask& mask, Read read)
    -> std::optional<decltype(read(std::declval<const json::object&>()))> {
  const meta::Result<json::value> value = codec::ParseJsonParts(text, mask, meta::NewArena());
  if (!value || !value->is_object()) return std::nullopt;
  return read(value->get_object());
}

}  // namespace

std::optional<ServiceRecord> ReadService(std::string_view text) {
  static const meta::FieldMask mask = {"metadata.name",
                                       "metadata.namespace",
                                       "metadata.uid",
                                       "metadata.resourceVersion",
                                       "metadata.creationTimestamp",
                                       "spec.type",
                                       "spec.clusterIP",
                                       "spec.clusterIPs",
                                       "spec.ports",
                                       "spec.healthCheckNodePort"};
  return WithFields(text, mask, [](const json::object& root) {
    ServiceRecord record;
    record.reference = ReferenceTo(root, "v1", "Service");
    record.created = CreationTime(root);
    record.type = meta::FindString(root, "spec", "type");
    record.health_check_port = NumberAt(root, "spec", "healthCheckNodePort");
    const std::string_view ip = meta::FindString(root, "spec", "clusterIP");
    const json::value* ips = meta::Find(root, "spec", "clusterIPs");
    if (record.type != "ExternalName" && !ip.empty() && ip != "None" && ips && ips->is_array()) {
      for (const json::value& one : ips->get_array()) {
        if (one.is_string()) record.ips.emplace_back(one.get_string());
      }
    }
    for (const json::object& port : Objects(meta::Find(root, "spec", "ports"))) {
      if (const std::int64_t number = NumberAt(port, "nodePort"))
        record.ports.push_back({number, std::string(meta::FindString(port, "protocol"))});
    }
    return record;
  });
}

std::optional<AddressRecord> ReadAddress(std::string_view text) {
  static const meta::FieldMask mask = {
      "metadata.name",   "metadata.uid",  "metadata.resourceVersion", "metadata.creationTimestamp",
      "metadata.labels", "spec.parentRef"};
  return WithFields(text, mask, [](const json::object& root) {
    AddressRecord record;
    record.reference = ReferenceTo(root, "networking.k8s.io/v1", "IPAddress");
    record.created = CreationTime(root);
    record.managed = meta::FindString(root, "metadata", "labels", kManagedByLabel) == kIpAllocator;
    record.labelled = record.managed &&
                      meta::FindString(root, "metadata", "labels", kIpFamilyLabel) == IpFamilyOf(record.reference.name);
    const auto parent = [&](std::string_view field) { return meta::FindString(root, "spec", "parentRef", field); };
    record.of_service = parent("group").empty() && parent("resource") == "services";
    record.parent_ns = parent("namespace");
    record.parent_name = parent("name");
    record.parent = fmt::format("&ParentReference{{Group:{},Resource:{},Namespace:{},Name:{},}}", parent("group"),
                                parent("resource"), parent("namespace"), parent("name"));
    return record;
  });
}

}  // namespace apimesh::core_api
