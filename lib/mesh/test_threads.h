#pragma once

#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

namespace apimesh::mesh {

/// The io_contexts of a client and a server, each with its own thread. It must be the first member of a fixture.
struct TestThreads {
  TestThreads()
      : work(client.get_executor()),
        server_work(server.get_executor()),
        thread([this] { client.run(); }),
        server_thread([this] { server.run(); }) {}
  ~TestThreads() {
    work.reset();
    server_work.reset();
    client.stop();
    server.stop();
    thread.join();
    server_thread.join();
  }
  TestThreads(const TestThreads&) = delete;

  boost::asio::io_context client{1}, server{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work, server_work;
  std::thread thread, server_thread;
};

}  // namespace apimesh::mesh
