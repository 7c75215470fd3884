#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "lib/base/async/wakeup.h"
#include "lib/mesh/api_client.h"
#include "lib/meta/errors/api_error.h"
#include "lib/meta/object.h"
#include "services/core-api/own_api.h"

namespace apimesh::core_api {

/// Sends requests to the API of this process, as the user system:apiserver. A request passes through the same handlers
/// as a request from a client, without the network. Requests that fail because the server is not ready or is overloaded
/// are retried until they succeed or Stop() is called. Thread-safe.
class LocalApi {
 public:
  LocalApi(std::shared_ptr<mesh::DelegateHandler> server, boost::asio::any_io_executor executor, const Clock& clock);

  Task<meta::Result<meta::Object>> Get(std::string path);
  /// Like Get(), but without retries. Use it for work that a client waits for.
  Task<meta::Result<meta::Object>> GetOnce(std::string path) { return SendOnce("GET", std::move(path), ""); }
  /// Sends any request, without retries. The body is JSON.
  Task<meta::Result<meta::Object>> Once(std::string method, std::string path, std::string body) {
    return SendOnce(std::move(method), std::move(path), std::move(body));
  }
  /// Returns the items of a collection.
  Task<meta::Result<std::vector<meta::Object>>> List(std::string path);
  Task<meta::Result<meta::Object>> Create(std::string collection, meta::Object object);
  Task<meta::Result<meta::Object>> Update(std::string path, meta::Object object);
  Task<meta::Result<>> Delete(std::string path);

  /// Runs all tasks concurrently and returns when the last one has completed.
  Task<> Together(std::vector<Task<>> tasks);
  /// Returns true after `duration`, or false as soon as the process stops.
  Task<bool> Sleep(Duration duration);
  void Stop();
  bool Stopped() const { return stopped_; }
  const boost::asio::any_io_executor& Executor() const { return executor_; }
  const Clock& GetClock() const { return clock_; }

 private:
  Task<meta::Result<meta::Object>> Send(std::string method, std::string path, std::string body);
  Task<meta::Result<meta::Object>> SendOnce(std::string method, std::string path, std::string body);

  const mesh::ApiClient api_;
  const boost::asio::any_io_executor executor_;
  const Clock& clock_;
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;
  std::vector<std::weak_ptr<Wakeup>> sleepers_;  // guarded by mutex_
};
using LocalApiPtr = std::shared_ptr<LocalApi>;

/// Returns the API for use by kinds. Kinds are part of the server behind `api` and must not keep it alive. After `api`
/// is destroyed, every request fails with 503.
OwnApi MakeOwnApi(std::weak_ptr<LocalApi> api);

/// Returns the path of an object's collection, such as "/api/v1/namespaces/default/services", from the type and
/// namespace of the object.
std::string CollectionPath(const meta::Object& object, std::string_view plural);

}  // namespace apimesh::core_api
