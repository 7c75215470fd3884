#pragma once

#include <string_view>

#include <boost/asio/any_io_executor.hpp>

namespace apimesh {

/// Returns the executor for work of this user on the threads of `executor`. The work of one user runs in order, one
/// piece after the other; that of two users runs at the same time if there are two threads. Therefore, a user with much
/// work does not delay another one, but only further work of the same user. Thread-safe.
///
/// There are 64 such executors per execution context. Two users share one with a probability of 1 in 64. A user cannot
/// choose a name that shares the executor of a certain other user.
const boost::asio::any_io_executor& ExecutorOfUser(const boost::asio::any_io_executor& executor, std::string_view user);

}  // namespace apimesh
