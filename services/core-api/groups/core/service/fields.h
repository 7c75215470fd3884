#pragma once

#include <string>
#include <vector>

#include "lib/meta/field_error.h"
#include "lib/meta/object.h"

/// How the fields of a Service depend on each other. Pure.
namespace apimesh::core_api {

/// spec, or an empty object.
const meta::json::object& ServiceSpec(const meta::Object& service);
std::vector<std::string> ClusterIps(const meta::Object& service);
/// spec.clusterIP and spec.clusterIPs.
void SetClusterIps(meta::Object& service, const std::vector<std::string>& ips);

bool IsHeadless(const meta::Object& service);
bool NeedsClusterIp(const meta::Object& service);
bool NeedsNodePorts(const meta::Object& service);
bool NeedsHealthCheckPort(const meta::Object& service);
/// NodePort, LoadBalancer, or ClusterIP with external addresses.
bool IsExternallyAccessible(const meta::json::object& spec);

/// clusterIP and clusterIPs say the same, whichever of the two the client gave or changed. `old` is nullptr for a create.
void SyncClusterIps(meta::Object& service, const meta::Object* old);
/// What was given out before and is not mentioned now stays: addresses, node ports, the health check port.
void KeepAllocated(meta::Object& service, const meta::Object& old);
/// What the new type has no use for goes, unless the client changed it as well.
void DropTypeDependent(meta::Object& service, const meta::Object& old);
/// ipFamilyPolicy and ipFamilies from the addresses and from `families`, those of the cluster, the default one first.
meta::FieldErrors InitFamilies(meta::Object& service, const meta::Object* old, const std::vector<std::string>& families);

/// "IPv4" or "IPv6"; "" if the text is no address.
std::string_view FamilyOf(std::string_view ip);

}  // namespace apimesh::core_api
