#pragma once

#include <memory>

#include "lib/mesh/delegate/delegate.h"
#include "lib/registry/resource.h"
#include "services/extensions-api/controller/served_definitions.h"

namespace apimesh::extensions_api {

/// Delays the response to the creation of a definition until its resources are served, for at most a second, and names
/// them to the edge (lib/mesh/served_header.h). So a client that has the response finds the resources, and `kubectl
/// create -f` of a list with a definition and its objects works.
class AnswerWhenServed final : public mesh::DelegateHandler {
 public:
  AnswerWhenServed(std::shared_ptr<mesh::DelegateHandler> server, std::shared_ptr<ServedDefinitions> served,
                   const Clock& clock);

  /// The hooks of the definitions, which record what a request creates.
  std::shared_ptr<registry::Hooks> CreationHooks() const;

  Task<mesh::Response> Call(mesh::Request&& request) override;
  Task<> Stream(mesh::Request request, mesh::ResponseStream& stream) override;
  Task<> Connect(mesh::Request request, std::unique_ptr<mesh::ConnectStream> stream) override;
  std::shared_ptr<void> Describe(std::function<void(mesh::Description)> changed) override;

  struct Creations;

 private:
  Task<mesh::Response> CallAndWait(mesh::Request&& request);

  const std::shared_ptr<mesh::DelegateHandler> server_;
  const std::shared_ptr<ServedDefinitions> served_;
  const Clock& clock_;
  const std::shared_ptr<Creations> creations_;
};

}  // namespace apimesh::extensions_api
