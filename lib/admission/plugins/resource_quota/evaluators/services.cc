#include "lib/admission/plugins/resource_quota/evaluators/services.h"

#include "lib/admission/fields.h"

namespace apimesh::admission::resource_quota {
namespace {

constexpr const char *kCount = "count/services", *kServices = "services", *kNodePorts = "services.nodeports",
                     *kLoadBalancers = "services.loadbalancers";

/// Node ports are not allocated yet when a quota is checked, so that the ports that will get one are counted.
std::int64_t NodePorts(const json::object& spec) {
  const json::array& ports = ListAt(spec, "ports");
  if (BoolAt(spec, "allocateLoadBalancerNodePorts").value_or(true)) return static_cast<std::int64_t>(ports.size());
  std::int64_t count = 0;
  ForEach(spec, "ports", [&count](const json::object& port) { count += NumberAt(port, "nodePort").value_or(0) != 0; });
  return count;
}

class ServiceEvaluator final : public Evaluator {
 public:
  bool Uses(std::string_view name) const override {
    return name == kCount || name == kServices || name == kNodePorts || name == kLoadBalancers;
  }
  Measurement Measure(const meta::Object& service) const override {
    const json::object& spec = SpecOf(service);
    const std::string_view type = meta::FindString(spec, "type");
    std::int64_t node_ports = 0;
    if (type == "NodePort") node_ports = static_cast<std::int64_t>(ListAt(spec, "ports").size());
    if (type == "LoadBalancer") node_ports = NodePorts(spec);
    Measurement measured;
    measured.usage = {{kCount, meta::Quantity(1)},
                      {kServices, meta::Quantity(1)},
                      {kNodePorts, meta::Quantity(node_ports)},
                      {kLoadBalancers, meta::Quantity(type == "LoadBalancer" ? 1 : 0)}};
    return measured;
  }
};

}  // namespace

EvaluatorPtr NewServiceEvaluator() {
  static const EvaluatorPtr evaluator = std::make_shared<const ServiceEvaluator>();
  return evaluator;
}

}  // namespace apimesh::admission::resource_quota
