#include "services/aggregator/edge/latency.h"

#include <fmt/format.h>

#include "lib/base/text/format_duration.h"

namespace apimesh::aggregator {
namespace {

constexpr Duration kSlow = std::chrono::milliseconds(500);
constexpr std::size_t kLongestPath = 256;  // in the log

struct Part {
  std::string_view name;  // that of the annotation
  Duration took;
};

/// The parts that took any time, in the order of the filters.
std::vector<Part> PartsOf(const LatencyNotes& notes) {
  std::vector<Part> parts = {{"authentication", notes.authentication},
                             {"impersonation", notes.impersonation},
                             {"apf-queue-wait", notes.queued},
                             {"authorization", notes.authorization}};
  std::erase_if(parts, [](const Part& part) { return part.took == Duration::zero(); });
  return parts;
}

}  // namespace

void AnnotateLatency(Exchange& exchange) {
  const Duration total = exchange.clock.Steady() - exchange.started;
  if (total <= kSlow || exchange.info.verb == meta::Verb::kWatch) return;
  const std::vector<Part> parts = PartsOf(exchange.latency);
  if (parts.empty()) return;
  const auto add = [&exchange](std::string_view name, Duration took) {
    exchange.audit.annotations.try_emplace(fmt::format("apiserver.latency.k8s.io/{}", name), FormatDuration(took));
  };
  for (const Part& part : parts) add(part.name, part.took);
  add("total", total);
}

std::optional<std::string> SlowRequestLine(const Exchange& exchange, Duration took) {
  if (took <= kSlow || exchange.long_running) return std::nullopt;
  const std::string_view target = exchange.request.target;  // encoded, so it has no line breaks
  const int code = exchange.reply.Code();
  std::string line =
      fmt::format("slow request: {} {} {} after {}:", exchange.request.method,
                  target.substr(0, std::min(target.find('?'), kLongestPath)),
                  code == 0 ? "ended without an answer" : fmt::format("answered {}", code), FormatDuration(took));
  Duration rest = took;
  for (const Part& part : PartsOf(exchange.latency)) {
    line += fmt::format(" {} {},", part.name, FormatDuration(part.took));
    rest -= part.took;
  }
  return line + fmt::format(" server and client {}", FormatDuration(rest));
}

}  // namespace apimesh::aggregator
