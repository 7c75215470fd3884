#pragma once

#include <boost/asio/awaitable.hpp>

namespace apimesh {

/// A coroutine that does I/O. Plain functions are for logic.
/// GCC 12: never write a capturing lambda in the same expression as `co_await`; name it first.
template <class T = void>
using Task = boost::asio::awaitable<T>;

}  // namespace apimesh
