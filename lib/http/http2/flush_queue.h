#pragma once

#include <memory>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution_context.hpp>

namespace apimesh::http {

class Http2Connection;

/// The connections of one thread that have something to send at the end of its turn, as a service of its io_context.
/// Their TLS records are sent together (net::SendGroup).
class FlushQueue final : public boost::asio::execution_context::service {
 public:
  using key_type = FlushQueue;
  static boost::asio::execution_context::id id;
  explicit FlushQueue(boost::asio::execution_context& context) : service(context) {}
  /// The queue of the thread that runs `executor`.
  static FlushQueue& Of(const boost::asio::any_io_executor& executor);

  void Add(std::weak_ptr<Http2Connection> connection, const boost::asio::any_io_executor& executor);

 private:
  void shutdown() override { waiting_.clear(); }
  void Flush();

  std::vector<std::weak_ptr<Http2Connection>> waiting_, flushing_;
};

}  // namespace apimesh::http
