#include "services/aggregator/diagnostics/mesh_processes.h"

#include "lib/mesh/identity.h"
#include "lib/service/chain.h"
#include "lib/service/diagnostics/process_diagnostics.h"

namespace apimesh::aggregator {
namespace {

Task<mesh::Response> AtOnce(mesh::Response response) { co_return response; }

}  // namespace

std::vector<std::string> MeshProcesses::Names() const {
  std::vector<std::string> names{std::string(mesh::kAggregator), std::string(mesh::kAuthnAuthz)};
  const RoutesPtr routes = routes_->Current();
  for (const Delegate& delegate : routes->delegates) {
    if (delegate.OtherProcess()) names.push_back(delegate.name);
  }
  return names;
}

Task<mesh::Response> MeshProcesses::Ask(std::string name, mesh::Request request) const {
  request.method = "POST";
  if (name == mesh::kAggregator) return service::AnswerDiagnosis(std::move(request));
  if (name == mesh::kAuthnAuthz) return authority_->Diagnose(std::move(request));
  const RoutesPtr routes = routes_->Current();
  for (const Delegate& delegate : routes->delegates) {
    if (delegate.OtherProcess() && delegate.name == name) return delegate.client->Call(std::move(request));
  }
  return AtOnce(service::PlainNotFound());
}

}  // namespace apimesh::aggregator
