#pragma once

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include "lib/codec/codec.h"
#include "lib/storage/backend.h"
#include "lib/testing/system_clock.h"

namespace apimesh::storage {

/// Two threads that run coroutines, each on its own io_context as in a server, and calls that wait for a coroutine.
class Harness {
 public:
  Harness() {
    for (Worker& worker : workers_) {
      worker.thread = std::thread([&worker] {
        worker.context.run();
        worker.idle.set_value();
      });
    }
  }
  /// Lets the loops of stopped stores finish: a loop that is interrupted while it waits is kept alive by what it waits
  /// for.
  ~Harness() {
    for (Worker& worker : workers_) worker.work.reset();
    for (Worker& worker : workers_) {
      if (worker.idle.get_future().wait_for(std::chrono::seconds(2)) != std::future_status::ready)
        worker.context.stop();
      worker.thread.join();
    }
  }
  /// Returns the two contexts alternately.
  boost::asio::io_context& Context() { return workers_[turn_++ % 2].context; }

  template <class T>
  T Await(Task<T> task) {
    auto future = boost::asio::co_spawn(Context(), std::move(task), boost::asio::use_future);
    if (future.wait_for(std::chrono::seconds(40)) != std::future_status::ready)
      throw std::runtime_error("no answer in 40 s");
    return future.get();
  }

 private:
  struct Worker {
    boost::asio::io_context context{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{context.get_executor()};
    std::thread thread;
    std::promise<void> idle;
  };
  Worker workers_[2];
  std::atomic<unsigned> turn_{0};
};

inline ResourceConfig WidgetConfig() {
  ResourceConfig config;
  config.resource = {"example.com", "widgets"};
  config.key_prefix = "example.com/widgets";
  config.api_version = "example.com/v1";
  config.selectable_fields = {"spec.color"};
  config.to_json = [](std::string_view stored) -> meta::Result<std::string> {
    if (stored.find("broken") != std::string_view::npos) return meta::InternalError("broken on purpose");
    return std::string(stored.substr(4));  // the test's "protobuf" is JSON behind the magic bytes
  };
  return config;
}

inline std::string WidgetJson(std::string_view ns, std::string_view name, std::string_view color) {
  return fmt::format(R"({{"apiVersion":"example.com/v1","kind":"Widget","metadata":{{"name":"{1}","namespace":"{0}",)"
                     R"("uid":"uid-{1}","labels":{{"color":"{2}"}}}},"spec":{{"color":"{2}"}}}})",
                     ns, name, color);
}

inline meta::Object ParseObject(std::string_view json) {
  return meta::Object(codec::ParseJson(json, meta::NewArena()).value().get_object());
}

inline Key WidgetKey(std::string_view ns, std::string_view name) { return KeyFor(true, ns, name).value(); }

inline meta::RequestContext ContextFor(Duration time = std::chrono::seconds(30)) {
  meta::RequestContext::State state;
  state.deadline = {testing::In(time), testing::SystemClock()};
  return meta::RequestContext(std::move(state));
}

}  // namespace apimesh::storage
