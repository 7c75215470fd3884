#pragma once

#include <boost/asio/any_io_executor.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lib/base/wakeup.h"
#include "lib/meta/api_error.h"
#include "lib/meta/object.h"
#include "lib/rpc/delegate.h"

namespace apimesh::core_api {

/// The API of this very process for its own work, as the user system:apiserver: everything a client's request goes
/// through, without the network. Reads and writes that find the server not ready yet are tried again until it is, or
/// until Stop(). Thread-safe.
class LocalApi {
 public:
  LocalApi(std::shared_ptr<rpc::DelegateHandler> server, boost::asio::any_io_executor executor)
      : server_(std::move(server)), executor_(std::move(executor)) {}

  Task<meta::Result<meta::Object>> Get(std::string path);
  /// The same with one try only, for work that a client waits for.
  Task<meta::Result<meta::Object>> GetOnce(std::string path) { return SendOnce("GET", std::move(path), ""); }
  /// Any request, tried once. The body is JSON.
  Task<meta::Result<meta::Object>> Once(std::string method, std::string path, std::string body) {
    return SendOnce(std::move(method), std::move(path), std::move(body));
  }
  /// The items of a collection.
  Task<meta::Result<std::vector<meta::Object>>> List(std::string path);
  Task<meta::Result<meta::Object>> Create(std::string collection, meta::Object object);
  Task<meta::Result<meta::Object>> Update(std::string path, meta::Object object);
  Task<meta::Result<>> Delete(std::string path);

  /// Runs all at the same time and returns when the last has ended.
  Task<> Together(std::vector<Task<>> tasks);
  /// Sleeps; false: the process stops.
  Task<bool> Sleep(Duration duration);
  void Stop();
  bool Stopped() const { return stopped_; }
  const boost::asio::any_io_executor& Executor() const { return executor_; }

 private:
  Task<meta::Result<meta::Object>> Send(std::string method, std::string path, std::string body);
  Task<meta::Result<meta::Object>> SendOnce(std::string method, std::string path, std::string body);

  const std::shared_ptr<rpc::DelegateHandler> server_;
  const boost::asio::any_io_executor executor_;
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;
  std::vector<std::weak_ptr<Wakeup>> sleepers_;  // guarded by mutex_
};
using LocalApiPtr = std::shared_ptr<LocalApi>;

/// "/api/v1/namespaces/default/services" and the like, from the type and namespace of an object.
std::string CollectionPath(const meta::Object& object, std::string_view plural);

}  // namespace apimesh::core_api
