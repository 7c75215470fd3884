#include "services/core-api/groups/core/service/service.h"

#include <set>

#include <fmt/format.h>

#include "lib/meta/names.h"
#include "lib/registry/status_strategy.h"
#include "services/core-api/features/rule_features.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/core/service/allocation.h"
#include "services/core-api/groups/core/service/fields.h"
#include "services/core-api/groups/core/service/proxy.h"
#include "services/core-api/groups/core/service/rules.h"
#include "services/core-api/groups/core/service/warnings.h"
#include "services/core-api/groups/kind_inputs.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

class ServiceStrategy final : public registry::SpecStrategy {
 public:
  void Default(json::object& object) const override {
    json::object& spec = meta::MakeObject(object, "spec");
    const std::string type(meta::FindString(spec, "type"));
    const std::string_view affinity = meta::FindString(spec, "sessionAffinity");
    if (affinity == "None") meta::EraseField(spec, "sessionAffinityConfig");
    if (affinity == "ClientIP" && !meta::Find(spec, "sessionAffinityConfig", "clientIP", "timeoutSeconds")) {
      spec["sessionAffinityConfig"] = {{"clientIP", {{"timeoutSeconds", 10800}}}};
    }
    for (json::object& port : Objects(meta::FindField(spec, "ports"))) {
      const json::value* target = meta::FindField(port, "targetPort");
      const bool unset = !target || target->is_null() || (target->is_int64() && target->get_int64() == 0) ||
                         (target->is_string() && target->get_string().empty());
      if (unset) port["targetPort"] = NumberAt(port, "port");
    }
    if (IsExternallyAccessible(spec) && meta::FindString(spec, "externalTrafficPolicy").empty())
      spec["externalTrafficPolicy"] = "Cluster";
    if (!spec.contains("internalTrafficPolicy") &&
        (type == "NodePort" || type == "LoadBalancer" || type == "ClusterIP")) {
      spec["internalTrafficPolicy"] = "Cluster";
    }
    if (type != "LoadBalancer") return;
    if (!spec.contains("allocateLoadBalancerNodePorts")) spec["allocateLoadBalancerNodePorts"] = true;
    for (json::object& ingress : Objects(meta::Find(object, "status", "loadBalancer", "ingress"))) {
      if (!meta::FindString(ingress, "ip").empty() && !ingress.contains("ipMode")) ingress["ipMode"] = "VIP";
    }
  }

  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    return ValidateService(object);
  }

  void PrepareForCreate(const meta::RequestContext& ctx, meta::Object& object) const override {
    SpecStrategy::PrepareForCreate(ctx, object);
    // A dry run allocates no addresses, and a service with only clusterIP "None" must still be valid.
    SyncClusterIps(object, nullptr);
    DropUnusedTrafficPolicy(object);
  }
  void PrepareForUpdate(const meta::RequestContext& ctx, meta::Object& object, const meta::Object& old) const override {
    SpecStrategy::PrepareForUpdate(ctx, object, old);
    DropTypeDependent(object, old);
    DropUnusedTrafficPolicy(object);
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    return ValidateServiceUpdate(object, old);
  }
  std::vector<std::string> Warnings(const meta::RequestContext&, const meta::Object& object,
                                    const meta::Object*) const override {
    return ServiceWarnings(object);
  }
  bool AllowCreateOnUpdate() const override { return true; }
};

class ServiceStatusStrategy final : public registry::StatusStrategy {
 public:
  using StatusStrategy::StatusStrategy;
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    return ValidateServiceStatus(object, old);
  }
  std::vector<std::string> Warnings(const meta::RequestContext&, const meta::Object& object,
                                    const meta::Object*) const override {
    return ServiceStatusWarnings(object);
  }
};

std::string BalancerAddresses(const json::object& root) {
  std::set<std::string_view> addresses;
  for (const json::object& ingress : Objects(meta::Find(root, "status", "loadBalancer", "ingress"))) {
    const std::string_view ip = meta::FindString(ingress, "ip");
    const std::string_view address = ip.empty() ? meta::FindString(ingress, "hostname") : ip;
    if (!address.empty()) addresses.insert(address);
  }
  return fmt::format("{}", fmt::join(addresses, ","));
}

std::string ExternalIp(const json::object& root) {
  const std::string_view type = meta::FindString(root, "spec", "type");
  if (type == "ExternalName") return std::string(meta::FindString(root, "spec", "externalName"));
  const std::string own = JoinTexts(meta::Find(root, "spec", "externalIPs"));
  if (type == "ClusterIP" || type == "NodePort") return own.empty() ? "<none>" : own;
  if (type != "LoadBalancer") return "<unknown>";
  const std::string balancer = BalancerAddresses(root);
  if (own.empty()) return balancer.empty() ? "<pending>" : balancer;
  return balancer.empty() ? own : balancer + "," + own;
}

std::string Ports(const json::object& root) {
  std::vector<std::string> ports;
  for (const json::object& port : Objects(meta::Find(root, "spec", "ports"))) {
    const std::int64_t node_port = NumberAt(port, "nodePort");
    const std::string node = node_port > 0 ? fmt::format(":{}", node_port) : "";
    ports.push_back(fmt::format("{}{}/{}", NumberAt(port, "port"), node, meta::FindString(port, "protocol")));
  }
  return ports.empty() ? "<none>" : fmt::format("{}", fmt::join(ports, ","));
}

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  const json::object& root = object.Root();
  const std::vector<std::string> ips = ClusterIps(object);
  return {json::string(object.Name()),
          TextCell(meta::FindString(root, "spec", "type")),
          ips.empty() ? "<none>" : ips.front(),
          ExternalIp(root),
          Ports(root),
          AgeCell(object, ages),
          LabelsText(meta::Find(root, "spec", "selector"))};
}

}  // namespace

registry::Resource ServiceResource(const KindInputs& inputs) {
  registry::Resource resource = FromTable("", "v1", "services", std::make_shared<ServiceStrategy>());
  SubresourceOf(resource, "status").strategy = std::make_shared<ServiceStatusStrategy>(resource.strategy);
  SubresourceOf(resource, "proxy").connector = ServiceProxyConnector(inputs.api.read, inputs.cluster_client);
  resource.hooks = MakeServiceHooks(OptionsFrom(inputs));
  resource.returns_deleted_object = true;
  resource.validate_name =
      ActiveRuleFeatures().relaxed_service_name_validation ? meta::NameIsDnsLabel : meta::NameIsDns1035Label;
  resource.selectable_fields = {"spec.clusterIP", "spec.type"};
  resource.table = {{NameColumn(),
                     {.name = "Type", .description = "How it is reached."},
                     {.name = "Cluster-IP", .description = "Its address inside of the cluster."},
                     {.name = "External-IP", .description = "Its addresses for the world outside."},
                     {.name = "Port(s)", .description = "Its ports, with those of the nodes."},
                     AgeColumn(),
                     WideColumn("Selector", "Which pods are behind it.")},
                    &Cells,
                    {"metadata.name", "metadata.creationTimestamp", "spec.type", "spec.clusterIP", "spec.clusterIPs",
                     "spec.externalName", "spec.externalIPs", "spec.ports", "spec.selector", "status.loadBalancer"}};
  return resource;
}

}  // namespace apimesh::core_api
