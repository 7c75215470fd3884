#include "services/aggregator/metrics/mesh_metrics.h"

#include <fmt/format.h>

#include "lib/mesh/identity.h"

namespace apimesh::aggregator {

std::string DescribeMesh(const Routes& routes, bool authn_authz_is_up) {
  std::string text =
      "# HELP apimesh_process_up Whether a process of the mesh answers the aggregator.\n"
      "# TYPE apimesh_process_up gauge\n";
  const auto add_process = [&text](std::string_view name, bool up) {
    text += fmt::format("apimesh_process_up{{process=\"{}\"}} {}\n", name, up ? 1 : 0);
  };
  add_process(mesh::kAggregator, true);
  add_process(mesh::kAuthnAuthz, authn_authz_is_up);
  for (const Delegate& delegate : routes.delegates) {
    if (delegate.kind == Delegate::Kind::kChain) add_process(delegate.name, delegate.up);
  }
  text +=
      "# HELP apimesh_served_group_version The API server that serves a group-version.\n"
      "# TYPE apimesh_served_group_version gauge\n";
  for (const auto& [name, served] : routes.by_group_version) {
    const Delegate& delegate = routes.delegates[served.delegate];
    const std::string_view process = delegate.kind == Delegate::Kind::kOwn ? mesh::kAggregator : delegate.name;
    text += fmt::format("apimesh_served_group_version{{group=\"{}\",process=\"{}\",version=\"{}\"}} 1\n",
                        served.description->group, process, served.description->version);
  }
  return text;
}

}  // namespace apimesh::aggregator
