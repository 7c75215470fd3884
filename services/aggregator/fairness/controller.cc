#include "services/aggregator/fairness/controller.h"

#include <algorithm>
#include <cmath>

#include "lib/base/log.h"
#include "services/aggregator/fairness/queuing/allocation.h"

namespace apimesh::aggregator {
namespace {

// A request may occupy at most this part of the nominal seats of its level.
constexpr double kMaxPartOfRequest = 0.15;

int RoundPercent(int seats, int percent) { return static_cast<int>(std::lround(seats * (percent / 100.0))); }

service::Gauge LevelGauge(service::Metrics& metrics, const std::string& name, const std::string& help,
                          const std::string& level) {
  return metrics.GetGauge("apiserver_flowcontrol_" + name, help, {{"priority_level", level}});
}

int MaxSeatsOf(const PriorityLevel& level) {
  const QueueSettings& queues = level.settings.queues;
  if (queues.response != QueueSettings::Response::kQueue) return 0;
  const int part = static_cast<int>(std::ceil(level.nominal_seats * kMaxPartOfRequest));
  return std::max(1, std::min(part, level.nominal_seats / queues.hand_size));
}

}  // namespace

FairnessController::FairnessController(int seats, const Clock& clock, service::Metrics& metrics,
                                       std::function<void(SteadyTime)> release_at)
    : seats_(seats), clock_(clock), metrics_(metrics), release_at_(std::move(release_at)) {
  Configure({});
}

void FairnessController::Configure(FairnessObjects objects) {
  objects.AddMandatory();
  const std::lock_guard lock(mutex_);
  for (const auto& [name, level] : levels_) level->quiescing = true;
  for (const auto& [name, object] : objects.levels) {
    std::optional<LevelSettings> settings = LevelSettings::From(*object);
    if (!settings) {
      log::Warning("the PriorityLevelConfiguration {} is not valid and has no effect", name);
      continue;
    }
    PriorityLevelPtr& level = levels_[name];
    if (!level) level = std::make_shared<PriorityLevel>(name, clock_, release_at_);
    level->settings = std::move(*settings);
    level->quiescing = false;
  }
  // A deleted level keeps its share until its last request has finished.
  std::erase_if(levels_, [](const auto& entry) { return entry.second->quiescing && entry.second->queues.Idle(); });
  SetLimits();
  DivideSeats();

  auto flows = std::make_shared<Flows>();
  for (const auto& [name, object] : objects.schemas) {
    const auto schema = std::make_shared<const FlowSchema>(*object);
    const auto level = levels_.find(schema->PriorityLevel());
    if (level == levels_.end() || level->second->quiescing) continue;  // the schema is dangling
    flows->push_back(std::make_shared<const Flow>(
        Flow{schema, level->second, std::make_shared<FlowMetrics>(metrics_, level->first, name), schema->Uid(),
             level->second->settings.uid, level->second->settings.queues.response, MaxSeatsOf(*level->second)}));
  }
  std::sort(flows->begin(), flows->end(), [](const FlowPtr& a, const FlowPtr& b) {
    return std::pair(a->schema->Precedence(), std::string_view(a->schema->Name())) <
           std::pair(b->schema->Precedence(), std::string_view(b->schema->Name()));
  });
  const std::lock_guard flows_lock(flows_mutex_);
  flows_ = std::move(flows);
}

void FairnessController::SetLimits() {
  double shares = 0;
  for (const auto& [name, level] : levels_) shares += level->settings.shares;
  for (const auto& [name, level] : levels_) {
    const int nominal = static_cast<int>(std::ceil(seats_ * level->settings.shares / std::max(shares, 1.0)));
    const int lendable = RoundPercent(nominal, level->settings.lendable_percent);
    const std::optional<int> borrowing = level->settings.borrowing_percent;
    level->nominal_seats = nominal;
    level->min_seats = nominal - lendable;
    level->max_seats = nominal + (borrowing ? RoundPercent(nominal, *borrowing) : seats_);
    if (level->current_seats < 0) level->current_seats = nominal - lendable / 2;
    LevelGauge(metrics_, "nominal_limit_seats", "Nominal number of execution seats of a priority level", name)
        .Set(nominal);
    LevelGauge(metrics_, "lower_limit_seats", "Least number of execution seats of a priority level", name)
        .Set(level->min_seats);
    LevelGauge(metrics_, "upper_limit_seats", "Greatest number of execution seats of a priority level", name)
        .Set(level->max_seats);
  }
}

void FairnessController::Borrow() {
  const std::lock_guard lock(mutex_);
  DivideSeats();
}

// Levels that are exempt take what they need. The others share the rest: each gets at least what it cannot lend and
// what it needed at its peak within its nominal seats, and beyond that in proportion to its smoothed demand.
void FairnessController::DivideSeats() {
  std::vector<PriorityLevel*> limited;
  std::vector<AllocationClass> classes;
  int rest = 0, least = 0, needed = 0, total = 0;
  for (const auto& [name, level] : levels_) {
    level->demand.Update(level->queues.TakeDemand());
    total += level->nominal_seats;
    rest += level->nominal_seats;
    const int peak = level->demand.high_watermark;
    if (level->settings.queues.response == QueueSettings::Response::kExempt) {
      const int seats = std::max(level->min_seats, peak);
      rest -= seats;
      SetSeats(*level, seats, seats);
      continue;
    }
    const int lower = std::max(level->min_seats, std::min(level->nominal_seats, peak));
    limited.push_back(level.get());
    classes.push_back({.lower = double(lower),
                       .upper = double(level->max_seats),
                       .target = std::max(double(lower), level->demand.smoothed)});
    least += level->min_seats;
    needed += lower;
  }
  std::optional<Allocation> allocation;
  if (rest > needed) allocation = Allocate(total, classes);
  metrics_.GetGauge("apiserver_flowcontrol_seat_fair_frac", "Proportion of their target that priority levels receive")
      .Set(allocation ? allocation->fair_proportion : 0);
  for (std::size_t i = 0; i < limited.size(); ++i) {
    PriorityLevel& level = *limited[i];
    int seats = level.current_seats;
    if (rest <= least) {
      seats = level.min_seats;
    } else if (rest <= needed) {
      const double part = double(rest - least) / (needed - least);
      seats = level.min_seats + static_cast<int>(std::lround((classes[i].lower - level.min_seats) * part));
    } else if (allocation) {
      seats = static_cast<int>(std::lround(allocation->seats[i]));
    }
    SetSeats(level, seats, classes[i].target);
  }
}

void FairnessController::SetSeats(PriorityLevel& level, int seats, double target) {
  level.current_seats = seats;
  level.queues.Configure(level.settings.queues, seats);
  const auto set = [&](const std::string& name, const std::string& help, double value) {
    LevelGauge(metrics_, name, help, level.name).Set(value);
  };
  set("current_limit_seats", "Current number of execution seats of a priority level", seats);
  set("target_seats", "Number of seats that a priority level should receive", target);
  set("demand_seats_high_watermark", "Greatest number of seats needed in the last period", level.demand.high_watermark);
  set("demand_seats_average", "Average number of seats needed in the last period", level.demand.average);
  set("demand_seats_stdev", "Standard deviation of the seats needed in the last period", level.demand.deviation);
  set("demand_seats_smoothed", "Smoothed number of seats needed", level.demand.smoothed);
}

FlowPtr FairnessController::Classify(const meta::RequestInfo& info, const meta::UserInfo& user) const {
  std::shared_ptr<const Flows> flows;
  {
    const std::lock_guard lock(flows_mutex_);
    flows = flows_;
  }
  FlowPtr catch_all;
  for (const FlowPtr& flow : *flows) {
    if (flow->schema->Matches(info, user)) return flow;
    if (flow->schema->Name() == kCatchAll) catch_all = flow;
  }
  // A user who is in neither of the groups that the schema "catch-all" names.
  return catch_all ? catch_all : flows->back();
}

void FairnessController::Poll() {
  for (const PriorityLevelPtr& level : Levels()) level->queues.Poll();
}

std::vector<PriorityLevelPtr> FairnessController::Levels() const {
  const std::lock_guard lock(mutex_);
  std::vector<PriorityLevelPtr> levels;
  for (const auto& [name, level] : levels_) levels.push_back(level);
  return levels;
}

}  // namespace apimesh::aggregator
