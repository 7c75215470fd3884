#include "services/core-api/groups/networking/ingress/ingress.h"

#include <set>

#include <fmt/format.h>

#include "lib/registry/status_strategy.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/networking/ingress/validation.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/cidr_rules.h"
#include "services/core-api/validation/texts.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

class IngressStrategy final : public registry::SpecStrategy {
 public:
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    return ValidateIngress(object, nullptr);
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    return ValidateIngress(object, &old);
  }
  std::vector<std::string> Warnings(const meta::RequestContext&, const meta::Object& object,
                                    const meta::Object* old) const override {
    if (old || !FindAnnotation(object, kIngressClass) || meta::Find(object.Root(), "spec", "ingressClassName"))
      return {};
    return {fmt::format("annotation {} is deprecated, please use 'spec.ingressClassName' instead",
                        meta::Quoted(kIngressClass))};
  }
};

class IngressStatusStrategy final : public registry::StatusStrategy {
 public:
  using StatusStrategy::StatusStrategy;
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    return ValidateIngressStatus(object, old);
  }
  std::vector<std::string> Warnings(const meta::RequestContext&, const meta::Object& object,
                                    const meta::Object*) const override {
    std::vector<std::string> warnings;
    const meta::Path path = meta::Path("status").Child("loadBalancer").Child("ingress");
    std::size_t index = 0;
    for (const json::object& point : Objects(meta::Find(object.Root(), "status", "loadBalancer", "ingress"))) {
      for (std::string& warning : IpWarnings(path.Index(index++), meta::FindString(point, "ip")))
        warnings.push_back(std::move(warning));
    }
    return warnings;
  }
};

/// Returns at most three hosts.
std::string Hosts(const json::object& root) {
  constexpr std::size_t kMax = 3;
  std::vector<std::string_view> hosts;
  const auto rules = Objects(meta::Find(root, "spec", "rules"));
  bool more = false;
  for (const json::object& rule : rules) {
    more |= hosts.size() == kMax;
    const std::string_view host = meta::FindString(rule, "host");
    if (!more && !host.empty()) hosts.push_back(host);
  }
  if (hosts.empty()) return "*";
  const std::string joined = fmt::format("{}", fmt::join(hosts, ","));
  return more ? fmt::format("{} + {} more...", joined, rules.size() - kMax) : joined;
}

std::string Addresses(const json::object& root) {
  std::set<std::string_view> addresses;
  for (const json::object& point : Objects(meta::Find(root, "status", "loadBalancer", "ingress"))) {
    const std::string_view ip = meta::FindString(point, "ip");
    const std::string_view address = ip.empty() ? meta::FindString(point, "hostname") : ip;
    if (!address.empty()) addresses.insert(address);
  }
  return fmt::format("{}", fmt::join(addresses, ","));
}

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  const json::object& root = object.Root();
  return {json::string(object.Name()),
          meta::Find(root, "spec", "ingressClassName") ? TextCell(meta::FindString(root, "spec", "ingressClassName"))
                                                       : TextCell("<none>"),
          Hosts(root),
          Addresses(root),
          Objects(meta::Find(root, "spec", "tls")).empty() ? "80" : "80, 443",
          AgeCell(object, ages)};
}

}  // namespace

registry::Resource IngressResource(const KindInputs&) {
  registry::Resource resource = FromTable("networking.k8s.io", "v1", "ingresses", std::make_shared<IngressStrategy>());
  SubresourceOf(resource, "status").strategy = std::make_shared<IngressStatusStrategy>(resource.strategy);
  resource.generation = true;
  resource.table = {{NameColumn(),
                     {.name = "Class", .description = "Name of the IngressClass."},
                     {.name = "Hosts", .description = "Hosts of the rules."},
                     {.name = "Address", .description = "Addresses of the load balancer."},
                     {.name = "Ports", .description = "Ports that are open."},
                     AgeColumn()},
                    &Cells,
                    {"metadata.name", "metadata.creationTimestamp", "spec.ingressClassName", "spec.rules", "spec.tls",
                     "status.loadBalancer"}};
  return resource;
}

}  // namespace apimesh::core_api
