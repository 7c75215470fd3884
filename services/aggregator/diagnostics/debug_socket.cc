#include "services/aggregator/diagnostics/debug_socket.h"

namespace apimesh::aggregator {
namespace {

class DebugSocket final : public Filter {
 public:
  explicit DebugSocket(std::shared_ptr<Diagnostics> diagnostics) : diagnostics_(std::move(diagnostics)) {}

  Task<> Handle(Exchange& exchange, Next) override {
    exchange.user = user_;
    if (Diagnostics::ServesAtDebugSocket(exchange.path)) {
      co_await diagnostics_->Answer(exchange);
    } else {
      co_await exchange.reply.SendText(404, "text/plain; charset=utf-8", "404 page not found\n");
    }
  }

 private:
  const std::shared_ptr<Diagnostics> diagnostics_;
  const UserPtr user_ = MakeUser({.name = "apimesh:debug-socket", .uid = "", .groups = {}, .extra = {}});
};

}  // namespace

std::shared_ptr<Filter> MakeDebugSocket(std::shared_ptr<Diagnostics> diagnostics) {
  return std::make_shared<DebugSocket>(std::move(diagnostics));
}

}  // namespace apimesh::aggregator
