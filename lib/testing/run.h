#pragma once

#include <exception>
#include <optional>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "lib/base/async/task.h"

namespace apimesh::testing {

/// Runs one coroutine on `context` until it completes and returns its value. Open connections do not delay the return.
/// If the task also works on other threads, these may still refer to `context` after the return, so the context must
/// outlive them.
template <class T>
T RunTask(boost::asio::io_context& context, Task<T> task) {
  std::optional<T> result;
  std::exception_ptr failure;
  auto done = [&](std::exception_ptr error, T value) {
    failure = error;
    if (!error) result.emplace(std::move(value));
    context.stop();
  };
  boost::asio::co_spawn(context, std::move(task), done);
  context.restart();
  context.run();
  if (failure) std::rethrow_exception(failure);
  return std::move(*result);
}

inline void RunTask(boost::asio::io_context& context, Task<> task) {
  std::exception_ptr failure;
  auto done = [&](std::exception_ptr error) {
    failure = error;
    context.stop();
  };
  boost::asio::co_spawn(context, std::move(task), done);
  context.restart();
  context.run();
  if (failure) std::rethrow_exception(failure);
}

/// Runs the coroutine on its own context.
template <class T>
T RunTask(Task<T> task) {
  boost::asio::io_context context{1};
  return RunTask(context, std::move(task));
}

inline void RunTask(Task<> task) {
  boost::asio::io_context context{1};
  RunTask(context, std::move(task));
}

}  // namespace apimesh::testing
