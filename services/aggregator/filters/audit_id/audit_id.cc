#include "services/aggregator/filters/audit_id/audit_id.h"

#include "lib/meta/uuid.h"

namespace apimesh::aggregator {
namespace {

constexpr std::size_t kMaxLength = 64;

class AuditId final : public Filter {
 public:
  explicit AuditId(const Clock& clock) : clock_(clock) {}

  Task<> Handle(Exchange& exchange, Next next) override {
    exchange.received = clock_.Now();
    exchange.started = clock_.Steady();
    const std::string_view given = exchange.request.Header("audit-id");
    exchange.audit_id = given.empty() ? meta::NewUuid() : std::string(given.substr(0, kMaxLength));
    exchange.reply.SetHeader("audit-id", exchange.audit_id);
    return next(exchange);
  }

 private:
  const Clock& clock_;
};

}  // namespace

std::shared_ptr<Filter> MakeAuditId(const FilterInputs& inputs) { return std::make_shared<AuditId>(inputs.clock); }

}  // namespace apimesh::aggregator
