#include "services/aggregator/filters/priority_and_fairness/priority_and_fairness.h"

#include "services/aggregator/fairness/dumps.h"
#include "services/aggregator/fairness/follower.h"
#include "services/aggregator/filters/max_in_flight/max_in_flight.h"
#include "services/aggregator/routes/pages.h"

namespace apimesh::aggregator {
namespace {

/// A request waits at most a quarter of its time, and at most this long.
constexpr Duration kMaxWait = std::chrono::minutes(1);

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

/// The seats of one request. Records its metrics.
class QueuedSlot final : public RequestSlot {
 public:
  QueuedSlot(FlowPtr flow, const Exchange& exchange, const WorkEstimate& work)
      : flow_(std::move(flow)), exchange_(exchange), watch_(exchange.long_running) {
    ticket_.work = work;
    ticket_.flow_schema = flow_->schema->Name();
    ticket_.flow_distinguisher = flow_->schema->Distinguisher(exchange.info, exchange.user->info);
    ticket_.flow_hash = flow_->schema->FlowHash(ticket_.flow_distinguisher);
    ticket_.user = exchange.user->info.name;
    ticket_.info = &exchange.info;
    flow_->metrics->seats.Observe(work.MaxSeats());
  }
  ~QueuedSlot() override { Finish(); }
  QueuedSlot(const QueuedSlot&) = delete;
  QueuedSlot& operator=(const QueuedSlot&) = delete;

  QueueSet& Queues() { return flow_->level->queues; }
  Ticket& GetTicket() { return ticket_; }

  void Begin() {
    started_ = exchange_.clock.Steady();
    executing_ = true;
    flow_->metrics->dispatched.Add();
    Count(1);
  }
  /// A watch has its seats only until it is initialised.
  void Finish() {
    if (!std::exchange(executing_, false)) return;
    Count(-1);
    (watch_ ? flow_->metrics->execution_of_watch : flow_->metrics->execution)
        .Observe(Seconds(exchange_.clock.Steady() - started_));
    Queues().Leave(ticket_);
  }

  void Release() override {
    if (watch_) return Finish();
    Queues().Suspend(ticket_);
  }
  bool Acquire() override {
    Queues().Resume(ticket_);
    return true;
  }

 private:
  void Count(int change) const {
    flow_->metrics->executing.Add(change);
    flow_->metrics->executing_seats.Add(change * ticket_.work.MaxSeats());
  }

  const FlowPtr flow_;
  const Exchange& exchange_;
  const bool watch_;
  bool executing_ = false;
  SteadyTime started_{};
  Ticket ticket_;
};

class PriorityAndFairness final : public Filter {
 public:
  PriorityAndFairness(std::shared_ptr<FairnessController> controller, std::shared_ptr<FairnessFollower> follower)
      : controller_(std::move(controller)), follower_(std::move(follower)) {}
  ~PriorityAndFairness() override { follower_->Stop(); }

  Task<> Handle(Exchange& exchange, Next next) override {
    const bool watch = exchange.info.verb == meta::Verb::kWatch;
    if (exchange.long_running && !watch) {
      co_await next(exchange);
      co_return;
    }
    const FlowPtr flow = controller_->Classify(exchange.info, exchange.user->info);
    exchange.reply.SetHeader("x-kubernetes-pf-flowschema-uid", flow->schema_uid);
    exchange.reply.SetHeader("x-kubernetes-pf-prioritylevel-uid", flow->level_uid);
    QueuedSlot slot(flow, exchange, Estimate(exchange, *flow));
    const bool admitted = co_await Enter(exchange, *flow, slot);
    if (!admitted) {
      exchange.metrics.terminated = true;
      exchange.reply.SetHeader("retry-after", std::to_string(flow->level->retry_after.Reject(exchange.clock.Steady())));
      exchange.reply.SetHeader("x-content-type-options", "nosniff");
      co_await exchange.reply.SendText(429, "text/plain; charset=utf-8",
                                       "Too many requests, please try again later.\n");
      co_return;
    }
    const Counted counted(watch ? &watches_ : nullptr, exchange.info);
    slot.Begin();
    exchange.slot = &slot;
    co_await next(exchange);
    exchange.slot = nullptr;
    if (exchange.info.verb == meta::Verb::kList && exchange.reply.Code() == 200)
      sizes_.Record(ListSizes::Key(exchange.path, exchange.query), exchange.reply.BodyBytes());
  }

 private:
  /// Counts an open watch.
  struct Counted {
    Counted(WatchCounts* given, const meta::RequestInfo& request) : counts(given), info(request) {
      if (counts) counts->Add(info, 1);
    }
    ~Counted() {
      if (counts) counts->Add(info, -1);
    }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    WatchCounts* const counts;
    const meta::RequestInfo& info;
  };

  WorkEstimate Estimate(const Exchange& exchange, const Flow& flow) const {
    if (!exchange.info.is_resource_request) return {};
    int watches = -1;
    const WorkEstimate work =
        EstimateWork(exchange.info, exchange.path, exchange.query, flow.max_seats, sizes_, watches_, &watches);
    if (watches >= 0) flow.metrics->watches.Observe(watches);
    return work;
  }

  // Returns whether the request may run now. Waits if it has to.
  static Task<bool> Enter(Exchange& exchange, const Flow& flow, QueuedSlot& slot) {
    const bool exempt = flow.response == QueueSettings::Response::kExempt;
    FlowMetrics& metrics = *flow.metrics;
    int length = -1;
    const QueueSet::Outcome outcome = slot.Queues().Enter(slot.GetTicket(), &length);
    if (length >= 0) metrics.queue_length.Observe(length);
    if (outcome == QueueSet::Outcome::kExecute) {
      if (!exempt) metrics.wait_of_executed.Observe(0);
      co_return true;
    }
    if (outcome == QueueSet::Outcome::kReject) {
      (flow.response == QueueSettings::Response::kReject ? metrics.rejected_concurrency_limit
                                                         : metrics.rejected_queue_full)
          .Add();
      metrics.wait_of_rejected.Observe(0);
      co_return false;
    }
    const int seats = slot.GetTicket().work.MaxSeats();
    metrics.waiting.Add(1);
    metrics.waiting_seats.Add(seats);
    const SteadyTime begin = exchange.clock.Steady();
    exchange.reply.OnDisconnect([&slot] { QueueSet::Cancel(slot.GetTicket()); });
    const bool admitted = co_await slot.Queues().Wait(slot.GetTicket(), WaitLimit(exchange));
    exchange.reply.OnDisconnect(nullptr);
    exchange.latency.queued = exchange.clock.Steady() - begin;
    metrics.waiting.Add(-1);
    metrics.waiting_seats.Add(-seats);
    (admitted ? metrics.wait_of_executed : metrics.wait_of_rejected).Observe(Seconds(exchange.latency.queued));
    if (!admitted) metrics.rejected_time_out.Add();
    co_return admitted;
  }

  static SteadyTime WaitLimit(const Exchange& exchange) {
    Duration wait = kMaxWait;
    if (exchange.deadline != SteadyTime::max()) wait = std::min(wait, (exchange.deadline - exchange.started) / 4);
    return exchange.started + wait;
  }

  const std::shared_ptr<FairnessController> controller_;
  const std::shared_ptr<FairnessFollower> follower_;
  ListSizes sizes_;
  WatchCounts watches_;
};

void AddPages(Pages& pages, const std::shared_ptr<FairnessController>& controller, const Clock& clock) {
  const std::string folder = "/debug/api_priority_and_fairness/";
  pages.Add(folder + "dump_priority_levels",
            [controller](std::string_view) { return DumpPriorityLevels(*controller); });
  pages.Add(folder + "dump_queues", [controller](std::string_view) { return DumpQueues(*controller); });
  pages.Add(folder + "dump_requests", [controller, &clock](std::string_view query) {
    return DumpRequests(*controller, clock, query.find("includeRequestDetails=") != std::string_view::npos);
  });
}

}  // namespace

std::shared_ptr<Filter> MakePriorityAndFairness(const FilterInputs& inputs) {
  if (!inputs.Get<PriorityAndFairnessOptions>().enabled) return nullptr;
  const MaxInFlightOptions& limits = inputs.Get<MaxInFlightOptions>();
  const auto follower = std::make_shared<FairnessFollower>(FairnessFollower::Parts{
      .clock = inputs.clock, .objects = inputs.objects, .core_api = inputs.core_api, .executor = inputs.executor});
  const auto controller =
      std::make_shared<FairnessController>(limits.reads + limits.writes, inputs.clock, inputs.process_metrics,
                                           [weak = std::weak_ptr(follower)](SteadyTime time) {
                                             if (const auto self = weak.lock()) self->PollAt(time);
                                           });
  follower->Start(controller);
  AddPages(*inputs.pages, controller, inputs.clock);
  inputs.add_hook("priority-and-fairness-config-consumer", [follower] { return follower->Synced(); });
  inputs.add_hook("priority-and-fairness-filter", [follower] { return follower->RunsTimers(); });
  return std::make_shared<PriorityAndFairness>(controller, follower);
}

}  // namespace apimesh::aggregator
