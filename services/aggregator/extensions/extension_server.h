#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "lib/schema/openapi/descriptions.h"
#include "services/aggregator/apiservices/backend.h"

namespace apimesh::aggregator {

class Describer;

/// How to reach an extension server.
struct ExtensionOptions {
  std::string group, version;
  std::string endpoint;  // services/aggregator/extensions/endpoint.h
  std::string ca_pem;    // empty: the CA of the mesh
  bool operator==(const ExtensionOptions&) const = default;
};

/// What all extension servers share.
struct ExtensionInputs {
  const Clock& clock;
  boost::asio::any_io_executor executor;
  /// The certificate of this process in the mesh, and the CA. Presented to servers with a certificate of the mesh's CA.
  std::string mesh_ca_file, mesh_cert_file, mesh_key_file;
  std::string proxy_cert_file, proxy_key_file;  // presented to servers with another CA
  std::vector<std::string> own_folders;         // with the sockets of the mesh
  std::shared_ptr<const schema::Descriptions> texts;
  /// Returns why an address must not be used, or ""; RefuseAddress() except in tests.
  std::function<std::string(const std::string& address)> refuses;
};

/// A server in any language that serves a group-version by mesh.v1.Delegate. It gets only requests for what it has
/// described, with their user, and answers in JSON; the aggregator makes its discovery and OpenAPI documents.
/// Thread-safe.
class ExtensionServer final : public Backend {
 public:
  /// `changed` runs when the description or the connection has changed, on any thread; Check() must then be called.
  ExtensionServer(ExtensionOptions options, const ExtensionInputs& inputs, std::function<void()> changed);
  ~ExtensionServer() override;

  const ExtensionOptions& Options() const { return options_; }

  Delegate::Kind Kind() const override { return Delegate::Kind::kExtension; }
  Task<State> Check() override;
  Task<mesh::Response> Call(mesh::Request&& request) override;
  Task<> Stream(mesh::Request request, mesh::ResponseStream& stream) override;
  Task<mesh::Connection> Connect(mesh::Request request) override;
  /// Does nothing: the description comes from Check().
  std::shared_ptr<void> Describe(std::function<void(std::optional<mesh::Description>)>) override { return nullptr; }

 private:
  /// Returns the response to a request that the server does not get: a document, or an error.
  std::optional<mesh::Response> AnswerHere(const mesh::Request& request) const;

  const ExtensionOptions options_;
  const Clock& clock_;
  std::string problem_;                   // why there is no channel
  std::shared_ptr<Describer> describer_;  // nullptr: there is no channel
  std::shared_ptr<mesh::DelegateClient> client_;
};

/// Replaces the Accept header by "application/json" if the client accepts JSON: extension servers have no other
/// encoding.
void AskForJson(mesh::Request& request);

}  // namespace apimesh::aggregator
