#pragma once

#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "lib/mesh/delegate/delegate_server.h"

namespace apimesh::authn_authz::fake {

/// A fake core-api that serves lists and watches of the objects of a test, over real gRPC.
class FakeCoreApi {
 public:
  explicit FakeCoreApi(const std::string& address);
  ~FakeCoreApi();

  /// Adds or replaces an object by name. `path` is the collection of all namespaces, such as "/api/v1/serviceaccounts".
  void Put(const std::string& path, const std::string& object_json);
  void Delete(const std::string& path, const std::string& name);

 private:
  class Handler;
  boost::asio::io_context io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{io_.get_executor()};
  std::shared_ptr<Handler> handler_;
  std::thread thread_;
  std::unique_ptr<mesh::DelegateServer> server_;
};

}  // namespace apimesh::authn_authz::fake
