#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lib/http/client.h"
#include "lib/rpc/delegate.h"
#include "services/aggregator/apiservices/service_resolver.h"

namespace apimesh::aggregator {

/// How the server behind an APIService is reached.
struct ExternalOptions {
  std::string group, version;
  ServiceReference service;
  std::string ca_pem;  // empty: the system's CAs
  bool insecure_skip_verify = false;
  std::string cert_file, key_file;  // our own, by which it knows that it may believe the X-Remote headers
  bool operator==(const ExternalOptions&) const = default;
};

/// An API server outside the mesh that an APIService stands for: requests go to it over HTTPS, with the user in X-Remote
/// headers. Thread-safe.
class ExternalServer final : public rpc::DelegateClient {
 public:
  explicit ExternalServer(ExternalOptions options);

  const ExternalOptions& Options() const { return options_; }
  /// Where it is now; none: 503.
  void SetHosts(std::vector<std::string> hosts);

  /// Asks for a path of its own as the aggregator. The error is a sentence.
  Task<meta::Result<http::ClientResponse>> Ask(std::string path, std::string accept) const;

  Task<rpc::Response> Call(rpc::Request&& request) override;
  Task<> Stream(rpc::Request request, rpc::ResponseStream& stream) override;
  Task<rpc::Connection> Connect(rpc::Request request) override;
  /// Its description comes from the APIService and from what availability checks find.
  std::shared_ptr<void> Describe(std::function<void(std::optional<rpc::Description>)>) override { return nullptr; }

 private:
  std::string PickHost() const;

  const ExternalOptions options_;
  const std::shared_ptr<http::Client> client_;
  mutable std::mutex mutex_;
  std::vector<std::string> hosts_;    // guarded by mutex_
  mutable std::size_t next_host_ = 0;  // guarded by mutex_
};

}  // namespace apimesh::aggregator
