#include "lib/http/http2/flush_queue.h"

#include <optional>

#include <boost/asio/post.hpp>

#include "lib/http/http2/connection.h"
#include "lib/net/send_group.h"

namespace apimesh::http {

boost::asio::execution_context::id FlushQueue::id;

FlushQueue& FlushQueue::Of(const boost::asio::any_io_executor& executor) {
  return boost::asio::use_service<FlushQueue>(boost::asio::query(executor, boost::asio::execution::context));
}

void FlushQueue::Add(std::weak_ptr<Http2Connection> connection, const boost::asio::any_io_executor& executor) {
  waiting_.push_back(std::move(connection));
  if (waiting_.size() == 1) boost::asio::post(executor, [this] { Flush(); });
}

void FlushQueue::Flush() {
  flushing_.swap(waiting_);
  std::optional<net::SendGroup> group;
  if (flushing_.size() > 1) group.emplace();
  for (const auto& weak : flushing_) {
    const auto connection = weak.lock();
    if (!connection) continue;
    connection->flush_posted_ = false;
    connection->Flush();
  }
  flushing_.clear();
}

}  // namespace apimesh::http
