#include "bench/load/requests.h"

#include <filesystem>
#include <fstream>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <fmt/format.h>

namespace apimesh::load {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kRequestLimit{120};

std::uint32_t Microseconds(steady_clock::duration time) {
  return static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::microseconds>(time).count());
}

std::int64_t Occurrences(std::string_view text, std::string_view part) {
  std::int64_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

/// Returns the error of a response; empty if it is as expected.
std::string Complaint(const http::ClientResponse& answer, const RequestPlan& plan) {
  if (answer.code != plan.expect_code) return fmt::format("status {}: {}", answer.code, answer.body.substr(0, 200));
  if (plan.expect_text.empty()) return "";
  const std::int64_t times = Occurrences(answer.body, plan.expect_text);
  if (plan.expect_times > 0 ? times != plan.expect_times : times == 0) {
    return fmt::format("{} is there {} times instead of {}", plan.expect_text, times, plan.expect_times);
  }
  return "";
}

struct RequestRun {
  const Target& target;
  const RequestPlan& plan;
  steady_clock::time_point end;
  std::int64_t next;
  Report report;

  bool Over() const { return plan.count > 0 ? next >= plan.first + plan.count : steady_clock::now() >= end; }
};

Task<> Worker(RequestRun& run, int worker) {
  // Each worker has its own client and therefore its own connection.
  const auto client = http::NewClient({.clock = Clock::System(),
                                       .tls = {.insecure_skip_verify = true},
                                       .max_response_bytes = std::size_t{1} << 30,
                                       .max_idle_connections = 1});
  while (!run.Over()) {
    const std::int64_t number = run.next++;
    const auto began = steady_clock::now();
    const auto answer =
        co_await client->Do(run.plan.method, run.target.url + Fill(run.plan.path, number, worker), run.target.headers,
                            Fill(run.plan.body, number, worker), began + kRequestLimit);
    run.report.delays.push_back(Microseconds(steady_clock::now() - began));
    ++run.report.done;
    if (!answer) {
      run.report.Fail(answer.error().message);
      continue;
    }
    run.report.bytes += static_cast<std::int64_t>(answer->body.size());
    if (std::string complaint = Complaint(*answer, run.plan); !complaint.empty()) run.report.Fail(std::move(complaint));
  }
}

struct WatchRun {
  const Target& target;
  const WatchPlan& plan;
  boost::asio::io_context& context;
  std::unique_ptr<http::Client> client;
  int open = 0;
  std::int64_t delivered = 0;
  std::int64_t expected = 0;
  steady_clock::time_point changed{};
  Report report;
};

Task<bool> CountHead(WatchRun& run, int code) {
  if (code == 200) {
    ++run.open;
  } else {
    run.report.Fail(fmt::format("watch answered {}", code));
  }
  co_return code == 200;
}

/// Counts watch events, which are one line each. Bookmarks are not requested, so every line is a delivery of the
/// change.
Task<bool> CountEvents(WatchRun& run, std::string piece) {
  run.report.bytes += static_cast<std::int64_t>(piece.size());
  run.delivered += std::count(piece.begin(), piece.end(), '\n');
  if (run.expected > 0 && run.delivered >= run.expected) {
    run.report.delays.push_back(Microseconds(steady_clock::now() - run.changed));
    run.expected = 0;
  }
  co_return true;
}

Task<> WatchOnce(WatchRun& run) {
  const auto head = [&run](int code, http::Headers) { return CountHead(run, code); };
  const auto piece = [&run](std::string data) { return CountEvents(run, std::move(data)); };
  const auto end = co_await run.client->Stream("GET", run.target.url + run.plan.watch_path, run.target.headers, "",
                                               head, piece, steady_clock::time_point::max());
  run.report.Fail(end ? "a watch ended" : end.error().message);
}

Task<> Pause(std::chrono::milliseconds time) {
  boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, time);
  co_await timer.async_wait(boost::asio::use_awaitable);
}

/// Returns the CPU time of all threads of the processes, from the scheduler's own accounting. The measured work takes
/// some ten milliseconds; the ticks of /proc/PID/stat would be a tenth of that.
double CpuSeconds(const std::vector<int>& pids) {
  double nanoseconds = 0;
  for (const int pid : pids) {
    std::error_code ignored;
    for (const auto& thread : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid), ignored)) {
      double used = 0;
      std::ifstream(thread.path() / "schedstat") >> used;
      nanoseconds += used;
    }
  }
  return nanoseconds / 1e9;
}

Task<> ChangeAndWait(WatchRun& run) {
  const auto limit = steady_clock::now() + kRequestLimit;
  while (run.open < run.plan.watchers && run.report.errors == 0 && steady_clock::now() < limit)
    co_await Pause(std::chrono::milliseconds(10));
  co_await Pause(std::chrono::milliseconds(300));  // waits for the initial events
  http::Headers headers = run.target.headers;
  headers.emplace_back("content-type", "application/merge-patch+json");
  const auto began = steady_clock::now();
  const double cpu = CpuSeconds(run.plan.server_pids);
  for (int event = 0; event < run.plan.events && run.report.errors == 0; ++event) {
    run.delivered = 0;
    run.expected = run.plan.watchers;
    run.changed = steady_clock::now();
    const auto answer = co_await run.client->Do(
        "PATCH", run.target.url + run.plan.change_path, headers,
        Fill(run.plan.change_body, static_cast<std::int64_t>(steady_clock::now().time_since_epoch().count()), 0),
        run.changed + kRequestLimit);
    if (!answer || answer->code != 200) {
      run.report.Fail(answer ? fmt::format("change: status {}: {}", answer->code, answer->body.substr(0, 200))
                             : answer.error().message);
      break;
    }
    while (run.expected > 0 && steady_clock::now() < run.changed + std::chrono::seconds(20))
      co_await Pause(std::chrono::milliseconds(1));
    if (run.expected > 0)
      run.report.Fail(fmt::format("lost: {} of {} deliveries", run.plan.watchers - run.delivered, run.plan.watchers));
    run.report.done += run.plan.watchers;
  }
  run.report.seconds = std::chrono::duration<double>(steady_clock::now() - began).count();
  run.report.server_cpu_seconds = CpuSeconds(run.plan.server_pids) - cpu;
  run.context.stop();
}

}  // namespace

std::string Fill(const std::string& text, std::int64_t number, int worker) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text.compare(at, 3, "{n}") == 0) {
      out += std::to_string(number);
      at += 3;
    } else if (text.compare(at, 3, "{w}") == 0) {
      out += std::to_string(worker);
      at += 3;
    } else {
      out += text[at++];
    }
  }
  return out;
}

Report RunRequests(const Target& target, const RequestPlan& plan) {
  boost::asio::io_context context(1);
  const auto began = steady_clock::now();
  RequestRun run{
      target,
      plan,
      began + std::chrono::duration_cast<steady_clock::duration>(std::chrono::duration<double>(plan.seconds)),
      plan.first,
      {}};
  for (int worker = 0; worker < plan.connections; ++worker)
    boost::asio::co_spawn(context, Worker(run, worker), boost::asio::detached);
  context.run();
  run.report.seconds = std::chrono::duration<double>(steady_clock::now() - began).count();
  return std::move(run.report);
}

Report RunWatch(const Target& target, const WatchPlan& plan) {
  boost::asio::io_context context(1);
  WatchRun run{target, plan, context,
               http::NewClient({.clock = Clock::System(),
                                .tls = {.insecure_skip_verify = true},
                                .max_response_bytes = std::size_t{1} << 40})};
  for (int watcher = 0; watcher < plan.watchers; ++watcher)
    boost::asio::co_spawn(context, WatchOnce(run), boost::asio::detached);
  boost::asio::co_spawn(context, ChangeAndWait(run), boost::asio::detached);
  context.run();
  return std::move(run.report);
}

}  // namespace apimesh::load
