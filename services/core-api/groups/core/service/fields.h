#pragma once

#include <string>
#include <vector>

#include "lib/meta/errors/field_error.h"
#include "lib/meta/object.h"

/// Dependencies between the fields of a Service. All functions are pure.
namespace apimesh::core_api {

/// Returns the spec, or an empty object.
const meta::json::object& ServiceSpec(const meta::Object& service);
std::vector<std::string> ClusterIps(const meta::Object& service);
/// Sets spec.clusterIP and spec.clusterIPs.
void SetClusterIps(meta::Object& service, const std::vector<std::string>& ips);

bool IsHeadless(const meta::Object& service);
bool NeedsClusterIp(const meta::Object& service);
bool NeedsNodePorts(const meta::Object& service);
bool NeedsHealthCheckPort(const meta::Object& service);
/// Whether the type is NodePort or LoadBalancer, or ClusterIP with external addresses.
bool IsExternallyAccessible(const meta::json::object& spec);

/// Makes clusterIP and clusterIPs agree, whichever of the two the client set or changed. `old` is nullptr for a create.
void SyncClusterIps(meta::Object& service, const meta::Object* old);
/// Keeps allocated values that the update omits: addresses, node ports, the health check port.
void KeepAllocated(meta::Object& service, const meta::Object& old);
/// Removes the fields that do not apply to the new type, unless the update changes them as well.
void DropTypeDependent(meta::Object& service, const meta::Object& old);
/// Removes internalTrafficPolicy from a service of type ExternalName, which has no traffic inside of the cluster.
void DropUnusedTrafficPolicy(meta::Object& service);
/// Sets ipFamilyPolicy and ipFamilies from the addresses and from `families`, the families of the cluster with the
/// default first.
meta::FieldErrors InitFamilies(meta::Object& service, const meta::Object* old,
                               const std::vector<std::string>& families);

/// Returns "IPv4" or "IPv6", or "" if the text is not an address.
std::string_view FamilyOf(std::string_view ip);

/// Returns the ports of the node that a service has, sorted, each once.
std::vector<std::int64_t> NodePortsOf(const meta::Object& service);

}  // namespace apimesh::core_api
