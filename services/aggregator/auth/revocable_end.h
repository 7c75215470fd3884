#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

namespace apimesh::aggregator {

/// The end of a long-running request by this process: the server stops, or the permission of the request is gone. A
/// write that waits for its client to read would keep the request open for as long as writes may take (90 s).
/// Therefore, the connection is closed if the request has not ended soon after it was asked to stop.
class RevocableEnd {
 public:
  /// The time that a client has to read what has been written. With the time until a missing permission is noticed,
  /// requests end within 10 s.
  static constexpr std::chrono::seconds kTimeToRead{3};

  /// Both functions run on `executor`, that of the connection, and not after this object is destroyed: `stop` ends the
  /// request, `cut` closes its connection and may be empty.
  RevocableEnd(boost::asio::any_io_executor executor, std::function<void()> stop, std::function<void()> cut)
      : state_(std::make_shared<State>(std::move(executor), std::move(stop), std::move(cut))) {}
  /// Must run on the executor, when the request has ended.
  ~RevocableEnd() {
    state_->stop = nullptr;
    state_->cut = nullptr;
    state_->timer.cancel();
  }
  RevocableEnd(const RevocableEnd&) = delete;

  /// Returns a function that ends the request. It can be called from any thread, and after this object is destroyed.
  /// `stop` does not run inside of it.
  std::function<void()> Callback() const {
    return [state = state_] { boost::asio::post(state->timer.get_executor(), [state] { state->End(); }); };
  }

 private:
  struct State : std::enable_shared_from_this<State> {
    State(boost::asio::any_io_executor executor, std::function<void()> given_stop, std::function<void()> given_cut)
        : timer(executor), stop(std::move(given_stop)), cut(std::move(given_cut)) {}

    void End() {
      const auto run = std::exchange(stop, nullptr);
      if (!run) return;
      run();
      if (!cut) return;  // not needed, or the request has ended
      timer.expires_after(kTimeToRead);
      timer.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
        const auto close = std::exchange(self->cut, nullptr);
        if (!error && close) close();
      });
    }

    boost::asio::steady_timer timer;
    std::function<void()> stop, cut;  // empty after they have run, and after the request has ended
  };
  const std::shared_ptr<State> state_;
};

}  // namespace apimesh::aggregator
