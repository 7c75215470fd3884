#include "services/core-api/groups/core/service/warnings.h"

#include <fmt/format.h>

#include "services/core-api/groups/core/service/fields.h"
#include "services/core-api/validation/check.h"
#include "services/core-api/validation/cidr_rules.h"
#include "services/core-api/validation/texts.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

using Warnings = std::vector<std::string>;

void Append(Warnings& warnings, std::vector<std::string> more) {
  for (std::string& text : more) warnings.push_back(std::move(text));
}

/// Adds the warnings about a list of addresses or CIDRs.
void WarnAboutList(const Check& spec, const char* field,
                   std::vector<std::string> (*warn)(const meta::Path&, std::string_view), Warnings& warnings) {
  std::size_t index = 0;
  for (const std::string_view text : TextsOf(spec, field))
    Append(warnings, warn(spec.Path().Child(field).Index(index++), text));
}

void WarnAboutHeadless(const Check& spec, Warnings& warnings) {
  if (!spec.Text("loadBalancerIP").empty())
    warnings.emplace_back("spec.loadBalancerIP is ignored for headless services");
  if (SizeOf(spec, "externalIPs") > 0) warnings.emplace_back("spec.externalIPs is ignored for headless services");
  if (spec.Text("sessionAffinity") != "None")
    warnings.emplace_back("spec.SessionAffinity is ignored for headless services");
}

}  // namespace

std::vector<std::string> ServiceWarnings(const meta::Object& service) {
  Warnings warnings;
  meta::FieldErrors unused;
  const Check spec(ServiceSpec(service), meta::Path("spec"), unused);
  if (FindAnnotation(service, "service.kubernetes.io/topology-aware-hints")) {
    warnings.emplace_back(
        "annotation service.kubernetes.io/topology-aware-hints is deprecated, please use "
        "service.kubernetes.io/topology-mode instead");
  }
  const bool external_name = spec.Text("type") == "ExternalName", headless = IsHeadless(service);
  const std::string_view ip = spec.Text("clusterIP");
  if (!external_name && !ip.empty() && ip != "None") WarnAboutList(spec, "clusterIPs", &IpWarnings, warnings);
  if (headless) WarnAboutHeadless(spec, warnings);
  WarnAboutList(spec, "externalIPs", &IpWarnings, warnings);
  const bool external_ips = SizeOf(spec, "externalIPs") > 0;
  if (external_ips && !headless && !external_name)
    warnings.emplace_back("spec.externalIPs is deprecated and may no longer be implemented in some clusters");
  if (const std::string_view balancer = spec.Text("loadBalancerIP"); !balancer.empty())
    Append(warnings, IpWarnings(spec.Path().Child("loadBalancerIP"), balancer));
  WarnAboutList(spec, "loadBalancerSourceRanges", &CidrWarnings, warnings);
  if (external_name && external_ips)
    warnings.emplace_back("spec.externalIPs is ignored when spec.type is \"ExternalName\"");
  if (!external_name && !spec.Text("externalName").empty())
    warnings.emplace_back("spec.externalName is ignored when spec.type is not \"ExternalName\"");
  if (spec.Text("trafficDistribution") == "PreferClose")
    warnings.emplace_back("spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"");
  return warnings;
}

std::vector<std::string> ServiceStatusWarnings(const meta::Object& service) {
  Warnings warnings;
  const meta::Path path = meta::Path("status").Child("loadBalancer").Child("ingress");
  std::size_t index = 0;
  for (const meta::json::object& ingress : Objects(meta::Find(service.Root(), "status", "loadBalancer", "ingress"))) {
    const std::string_view ip = meta::FindString(ingress, "ip");
    if (!ip.empty()) Append(warnings, IpWarnings(path.Index(index), ip));
    ++index;
  }
  return warnings;
}

}  // namespace apimesh::core_api
