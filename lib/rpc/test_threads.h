#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <thread>

namespace apimesh::rpc {

/// A client's and a server's io_context, each with a thread, for as long as it lives: a fixture's first member.
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

}  // namespace apimesh::rpc
