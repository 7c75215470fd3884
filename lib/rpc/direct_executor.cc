#include "lib/rpc/direct_executor.h"

#include <boost/asio/execution.hpp>

namespace apimesh::rpc {
namespace {

namespace execution = boost::asio::execution;

class Direct {
 public:
  explicit Direct(boost::asio::io_context& io) : io_(&io) {}

  template <class F>
  void execute(F&& f) const {
    std::decay_t<F> function(std::forward<F>(f));
    function();
  }
  bool operator==(const Direct&) const noexcept = default;

  boost::asio::execution_context& query(execution::context_t) const noexcept { return *io_; }
  static constexpr execution::blocking_t query(execution::blocking_t) noexcept { return execution::blocking.possibly; }
  Direct require(execution::blocking_t::possibly_t) const { return *this; }
  /// post() must not run inside the caller.
  auto require(execution::blocking_t::never_t) const {
    return boost::asio::require(io_->get_executor(), execution::blocking.never);
  }

 private:
  boost::asio::io_context* io_;
};

}  // namespace

boost::asio::any_io_executor DirectExecutor(boost::asio::io_context& io) { return Direct(io); }

}  // namespace apimesh::rpc
