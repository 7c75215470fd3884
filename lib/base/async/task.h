#pragma once

#include <boost/asio/awaitable.hpp>

namespace apimesh {

/// A coroutine that performs I/O. Logic without I/O belongs in plain functions. With GCC 12, a capturing lambda must
/// not be written in the same expression as `co_await`; it must be named first.
template <class T = void>
using Task = boost::asio::awaitable<T>;

}  // namespace apimesh
