#include "services/aggregator/filters/panic_recovery/panic_recovery.h"

#include "lib/base/log.h"

namespace apimesh::aggregator {
namespace {

class PanicRecovery final : public Filter {
 public:
  Task<> Handle(Exchange& exchange, Next next) override {
    bool failed = false;
    try {
      co_await next(exchange);
    } catch (const std::exception& error) {
      failed = true;
      log::Write(log::Level::kError, fmt::format("{} {}: {}", exchange.request.method, exchange.path, error.what()),
                 exchange.audit_id);
    }
    if (!failed && exchange.reply.HeadSent()) co_return;
    if (exchange.reply.HeadSent()) {
      exchange.reply.Abort();
    } else {
      co_await exchange.reply.SendError(meta::InternalError(
          fmt::format("This request caused apiserver to panic. Look in the logs for details. {}", exchange.audit_id)));
    }
  }
};

}  // namespace

std::shared_ptr<Filter> MakePanicRecovery(const FilterInputs&) { return std::make_shared<PanicRecovery>(); }

}  // namespace apimesh::aggregator
