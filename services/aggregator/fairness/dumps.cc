#include "services/aggregator/fairness/dumps.h"

#include <fmt/format.h>

#include "lib/meta/time.h"

namespace apimesh::aggregator {
namespace {

using Row = std::vector<std::string>;

// Pads the cells of each column to the width of the widest one, but not to that of a path of a megabyte. The last
// column is not padded.
std::string Format(const std::vector<Row>& rows) {
  constexpr std::size_t kLeastWidth = 8, kGreatestWidth = 64;
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max({widths[i], std::min(row[i].size() + 2, kGreatestWidth), kLeastWidth});
  }
  std::string text;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i) text += fmt::format("{:<{}} ", row[i] + ",", widths[i] - 1);
    text += row.back() + "\n";
  }
  return text;
}

std::string Text(auto number) { return fmt::format("{}", number); }
std::string Text(bool value) { return value ? "true" : "false"; }
std::string SeatSeconds(SeatTime time) {
  constexpr SeatTime kMicroseconds = 1'000'000;
  return fmt::format("{}.{:06}00ss", time / kMicroseconds, std::abs(time % kMicroseconds));
}
std::string Milliseconds(Duration duration) {
  if (duration == Duration::zero()) return "0s";
  return fmt::format("{}ms", std::chrono::duration<double, std::milli>(duration).count());
}

/// Converts times of the steady clock.
class WallTimes {
 public:
  explicit WallTimes(const Clock& clock) : steady_(clock.Steady()), now_(clock.Now()) {}
  std::string Text(SteadyTime time) const {
    if (time == SteadyTime{}) return "0001-01-01T00:00:00Z";
    return meta::FormatMicroTime(now_ - std::chrono::duration_cast<WallTime::duration>(steady_ - time));
  }

 private:
  const SteadyTime steady_;
  const WallTime now_;
};

}  // namespace

std::string DumpPriorityLevels(const FairnessController& controller) {
  std::vector<Row> rows{{"PriorityLevelName", "ActiveQueues", "IsIdle", "IsQuiescing", "WaitingRequests",
                         "ExecutingRequests", "DispatchedRequests", "RejectedRequests", "TimedoutRequests",
                         "CancelledRequests"}};
  for (const PriorityLevelPtr& level : controller.Levels()) {
    const QueueSet::Dump dump = level->queues.GetDump(false);
    int active = 0;
    for (const auto& queue : dump.queues) active += queue.waiting > 0;
    rows.push_back({level->name, Text(active), Text(dump.waiting + dump.executing == 0), Text(level->quiescing.load()),
                    Text(dump.waiting), Text(dump.executing), Text(dump.dispatched), Text(dump.rejected),
                    Text(dump.timed_out), Text(dump.cancelled)});
  }
  return Format(rows);
}

std::string DumpQueues(const FairnessController& controller) {
  std::vector<Row> rows{{"PriorityLevelName", "Index", "PendingRequests", "ExecutingRequests", "SeatsInUse",
                         "NextDispatchR", "InitialSeatsSum", "MaxSeatsSum", "TotalWorkSum"}};
  for (const PriorityLevelPtr& level : controller.Levels()) {
    int index = 0;
    for (const auto& queue : level->queues.GetDump(false).queues) {
      rows.push_back({level->name, Text(index++), Text(queue.waiting), Text(queue.executing), Text(queue.seats_in_use),
                      SeatSeconds(queue.next_dispatch), Text(queue.initial_seats), Text(queue.max_seats),
                      SeatSeconds(queue.work)});
    }
  }
  return Format(rows);
}

std::string DumpRequests(const FairnessController& controller, const Clock& clock, bool details) {
  Row head{"PriorityLevelName", "FlowSchemaName", "QueueIndex", "RequestIndexInQueue", "FlowDistingsher",
           "ArriveTime",        "InitialSeats",   "FinalSeats", "AdditionalLatency",   "StartTime"};
  if (details) {
    for (const char* column :
         {"UserName", "Verb", "APIPath", "Namespace", "Name", "APIVersion", "Resource", "SubResource"})
      head.emplace_back(column);
  }
  std::vector<Row> rows{head};
  const WallTimes times(clock);
  for (const PriorityLevelPtr& level : controller.Levels()) {
    for (const QueueSet::RequestDump& request : level->queues.GetDump(true).requests) {
      Row row{level->name,
              request.flow_schema,
              Text(request.queue),
              Text(request.position),
              request.flow_distinguisher,
              times.Text(request.arrived),
              Text(request.work.initial_seats),
              Text(request.work.final_seats),
              Milliseconds(request.work.extra_time),
              times.Text(request.started)};
      if (details) {
        const meta::RequestInfo& info = request.info;
        const std::string version = info.api_group.empty() ? info.api_version : info.api_group + "/" + info.api_version;
        for (std::string cell : {request.user, std::string(info.verb.Text()), info.path, info.ns, info.name, version,
                                 info.resource, info.subresource})
          row.push_back(std::move(cell));
      }
      rows.push_back(std::move(row));
    }
  }
  return Format(rows);
}

}  // namespace apimesh::aggregator
