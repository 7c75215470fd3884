#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <exception>
#include <optional>

#include "lib/base/task.h"

namespace apimesh::testing {

/// Runs one coroutine to its end on `context` and gives its value. Connections that stay open do not keep it. For a task that
/// works on other threads as well: these may still refer to the context when the value is there, so it has to outlive them.
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

/// The same on a context of its own.
template <class T>
T RunTask(Task<T> task) {
  boost::asio::io_context context{1};
  return RunTask(context, std::move(task));
}

inline void RunTask(Task<> task) {
  boost::asio::io_context context{1};
  std::exception_ptr failure;
  auto done = [&](std::exception_ptr error) {
    failure = error;
    context.stop();
  };
  boost::asio::co_spawn(context, std::move(task), done);
  context.run();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace apimesh::testing
