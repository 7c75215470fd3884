#include "services/aggregator/diagnostics/profiles.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/base/async/run_all.h"
#include "lib/gzip/blocks.h"
#include "lib/meta/selectors/query.h"
#include "lib/service/diagnostics/cpu_profiler.h"
#include "lib/service/diagnostics/process_diagnostics.h"
#include "services/aggregator/diagnostics/pprof.h"

namespace apimesh::aggregator {
namespace {

constexpr std::string_view kRoot = "/debug/pprof";
constexpr int kDefaultSeconds = 30;
constexpr std::chrono::seconds kAnswerTime{20};  // to name the functions and send the samples

constexpr std::string_view kIndex =
    "<html>\n<head>\n<title>/debug/pprof/</title>\n</head>\n<body>\n/debug/pprof/<br>\n<table>\n"
    "<tr><td><a href='profile'>profile</a></td><td>CPU profile of all processes of the mesh, in the format of pprof. "
    "seconds=N is its duration (30, at most 120); process=NAME selects a process and may occur more than once.</td>"
    "</tr>\n<tr><td><a href='symbol'>symbol</a></td><td>profiles already have the names of functions</td></tr>\n"
    "</table>\n</body>\n</html>\n";

Task<> SendText(Exchange& exchange, int code, std::string text) {
  exchange.reply.SetHeader("x-content-type-options", "nosniff");
  co_await exchange.reply.SendText(code, "text/plain; charset=utf-8", std::move(text));
}

Task<> SendError(Exchange& exchange, int code, std::string_view text) {
  exchange.reply.SetHeader("x-go-pprof", "1");
  co_await SendText(exchange, code, fmt::format("{}\n", text));
}

/// Returns why the runtime of this server cannot make a profile that Go programs have, or "".
std::string_view WhyNot(std::string_view profile) {
  if (profile == "heap" || profile == "allocs")
    return "the allocator of this server does not sample allocations; /metrics has the memory of every process";
  if (profile == "goroutine" || profile == "threadcreate" || profile == "trace")
    return "this server is not a Go program and has no goroutines";
  if (profile == "block" || profile == "mutex") return "this server does not measure how long threads wait for locks";
  return "";
}

std::string Compressed(const std::string& plain) {
  gzip::Body body;
  body.Add(gzip::SumOf(plain));
  return std::string(gzip::Body::Head()) + gzip::Deflate(plain) + body.Tail();
}

Task<> Ask(const MeshProcesses& processes, std::string name, mesh::Request request, mesh::Response& into) {
  mesh::Response answer = co_await processes.Ask(std::move(name), std::move(request));
  into = std::move(answer);
}

}  // namespace

bool Profiles::Serves(std::string_view path) {
  return path == kRoot || (path.starts_with(kRoot) && path[kRoot.size()] == '/');
}

Task<> Profiles::Answer(Exchange& exchange) {
  if (exchange.path == kRoot) {
    exchange.reply.SetHeader("location", "/debug/pprof/");
    co_await exchange.reply.SendText(302, "text/html; charset=utf-8", "<a href=\"/debug/pprof/\">Found</a>.\n\n");
    co_return;
  }
  const std::string_view name = std::string_view(exchange.path).substr(kRoot.size() + 1);
  if (name.empty()) {
    exchange.reply.SetHeader("x-content-type-options", "nosniff");
    co_await exchange.reply.SendText(200, "text/html; charset=utf-8", std::string(kIndex));
  } else if (name == "profile") {
    co_await AnswerCpu(exchange);
  } else if (name == "symbol") {
    co_await SendText(exchange, 200, "num_symbols: 1\n");
  } else if (const std::string_view why = WhyNot(name); !why.empty()) {
    co_await SendError(exchange, 501, why);
  } else {
    co_await SendError(exchange, 404, "Unknown profile");
  }
}

Task<> Profiles::AnswerCpu(Exchange& exchange) {
  const meta::QueryParameters query(exchange.query);
  const std::string text = query.First("seconds").value_or("");
  int seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error == std::errc::result_out_of_range || seconds > service::kMaxProfileSeconds) {
    co_await SendError(exchange, 400, fmt::format("a profile may take {} seconds", service::kMaxProfileSeconds));
    co_return;
  }
  // As in Go, a value that is no number means the default.
  if (error != std::errc() || end != text.data() + text.size() || seconds <= 0) seconds = kDefaultSeconds;
  const std::vector<std::string> known = processes_.Names();
  std::vector<std::string> names = query.All("process");
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    co_await SendError(exchange, 400, fmt::format("the processes are {}", fmt::join(known, ", ")));
    co_return;
  }
  if (busy_.exchange(true)) {
    co_await SendError(exchange, 500, "Could not enable CPU profiling: cpu profiling already in use");
    co_return;
  }
  struct Release {
    std::atomic<bool>& busy;
    ~Release() { busy = false; }
  } release{busy_};
  if (names.empty()) names = known;
  co_await TakeCpu(exchange, seconds, std::move(names));
}

Task<> Profiles::TakeCpu(Exchange& exchange, int seconds, std::vector<std::string> names) {
  mesh::Request request;
  request.path = service::kCpuPath;
  request.query = fmt::format("seconds={}", seconds);
  request.deadline = clock_.Steady() + std::chrono::seconds(seconds) + kAnswerTime;
  const WallTime start = clock_.Now();
  const SteadyTime began = clock_.Steady();
  std::vector<mesh::Response> answers(names.size());
  std::vector<Task<>> tasks;
  for (std::size_t i = 0; i < names.size(); ++i) tasks.push_back(Ask(processes_, names[i], request, answers[i]));
  co_await RunAll(std::move(tasks));
  std::vector<ProcessSamples> samples;
  std::vector<std::string> failed;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (answers[i].code == 200) {
      samples.emplace_back(names[i], answers[i].Text());
    } else {
      failed.push_back(names[i]);
    }
  }
  if (!failed.empty()) {
    co_await SendError(exchange, 500, fmt::format("no profile of these processes: {}", fmt::join(failed, ", ")));
    co_return;
  }
  std::string profile = Compressed(WriteProfile(samples, service::kSamplesPerSecond, start, clock_.Steady() - began));
  exchange.reply.SetHeader("x-content-type-options", "nosniff");
  exchange.reply.SetHeader("content-disposition", "attachment; filename=\"profile\"");
  co_await exchange.reply.SendText(200, "application/octet-stream", std::move(profile));
}

}  // namespace apimesh::aggregator
