#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <exception>
#include <optional>

#include "lib/base/task.h"

namespace apimesh::testing {

/// Runs one coroutine to its end on a context of its own and gives its value. Connections that stay open do not keep it.
template <class T>
T RunTask(Task<T> task) {
  boost::asio::io_context context{1};
  std::optional<T> result;
  std::exception_ptr failure;
  auto done = [&](std::exception_ptr error, T value) {
    failure = error;
    if (!error) result.emplace(std::move(value));
    context.stop();
  };
  boost::asio::co_spawn(context, std::move(task), done);
  context.run();
  if (failure) std::rethrow_exception(failure);
  return std::move(*result);
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
