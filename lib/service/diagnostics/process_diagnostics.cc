#include "lib/service/diagnostics/process_diagnostics.h"

#include <charconv>
#include <map>

#include <fmt/format.h>

#include "lib/base/async/wakeup.h"
#include "lib/base/log_level.h"
#include "lib/meta/selectors/query.h"
#include "lib/service/chain.h"
#include "lib/service/diagnostics/cpu_profiler.h"
#include "lib/service/diagnostics/symbols.h"

namespace apimesh::service {
namespace {

constexpr std::string_view kPrefix = "/apimesh/process/";
constexpr unsigned kDebugVerbosity = 4;

mesh::Response Text(int code, std::string text) {
  mesh::Response response;
  response.code = code;
  response.headers.emplace_back("content-type", "text/plain; charset=utf-8");
  response.body.emplace_back(std::move(text));
  return response;
}

mesh::Response SetVerbosity(std::string_view text) {
  unsigned verbosity = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), verbosity);
  if (error != std::errc() || end != text.data() + text.size()) return Text(400, "the verbosity is not a number\n");
  log::SetLevel(verbosity >= kDebugVerbosity ? log::Level::kDebug : log::Level::kInfo);
  return Text(200, "");
}

/// Stacks with the same names are joined.
std::string Folded(const CpuSamples& samples) {
  Symbols symbols;
  std::map<std::string, std::uint64_t> lines;
  for (const auto& [stack, count] : samples.stacks) {
    std::string line;
    for (const std::uintptr_t address : stack) line.append("\t").append(symbols.NameOf(address));
    lines[line] += count;
  }
  std::string text;
  for (const auto& [line, count] : lines) text += fmt::format("{}{}\n", count, line);
  if (samples.lost > 0) text += fmt::format("{}\t[lost]\n", samples.lost);
  return text;
}

Task<mesh::Response> ProfileCpu(std::string query) {
  const std::string text = meta::QueryParameters(query).First("seconds").value_or("");
  int seconds = 0;
  std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (seconds < 1 || seconds > kMaxProfileSeconds) co_return Text(400, "the number of seconds is out of range\n");
  if (!StartCpuSampling()) co_return Text(409, "another profile is being taken\n");
  // Sampling ends even if the process stops, and destroys this coroutine, meanwhile.
  struct Stop {
    bool stopped = false;
    ~Stop() {
      if (!stopped) StopCpuSampling();
    }
  } stop;
  co_await SleepFor(std::chrono::seconds(seconds));
  stop.stopped = true;
  const CpuSamples samples = StopCpuSampling();
  co_return Text(200, Folded(samples));
}

}  // namespace

bool IsDiagnosis(const mesh::Request& request) {
  // Every request of a client has an audit id.
  return request.method == "POST" && request.audit_id.empty() && request.path.starts_with(kPrefix);
}

Task<mesh::Response> AnswerDiagnosis(mesh::Request request) {
  if (request.path == kVerbosityPath) co_return SetVerbosity(request.body);
  if (request.path == kCpuPath) {
    mesh::Response profile = co_await ProfileCpu(std::move(request.query));
    co_return profile;
  }
  co_return PlainNotFound();
}

}  // namespace apimesh::service
