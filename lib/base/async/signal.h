#pragma once

#include <optional>

#include <boost/asio/async_result.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "lib/base/async/task.h"

namespace apimesh {

/// Wakes one waiting coroutine. Both sides must run on the same executor; the coroutine resumes inside Set().
class Signal {
 public:
  Task<> Wait() {
    if (set_) {
      set_ = false;
      co_return;
    }
    auto keep = [this](auto handler) { waiter_.emplace(std::move(handler)); };
    co_await boost::asio::async_initiate<const boost::asio::use_awaitable_t<>&, void()>(keep,
                                                                                        boost::asio::use_awaitable);
  }

  void Set() {
    if (!waiter_) {
      set_ = true;
      return;
    }
    Waiter waiter = std::move(*waiter_);
    waiter_.reset();
    waiter();
  }
  void Clear() { set_ = false; }

 private:
  using Waiter = boost::asio::async_result<boost::asio::use_awaitable_t<>, void()>::handler_type;
  std::optional<Waiter> waiter_;
  bool set_ = false;
};

}  // namespace apimesh
