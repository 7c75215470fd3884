#include "services/aggregator/diagnostics/diagnostics.h"

#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/codec/negotiation.h"
#include "lib/features/feature_gates.h"
#include "lib/meta/errors/field_error.h"
#include "lib/meta/selectors/query.h"
#include "lib/service/diagnostics/process_diagnostics.h"
#include "services/aggregator/edge/request_body.h"

namespace apimesh::aggregator {
namespace {

constexpr std::chrono::seconds kTellTimeout{5};
constexpr std::string_view kDebugFlags = "/debug/flags";
constexpr std::string_view kVerbosity = "/debug/flags/v";
constexpr std::string_view kIndexOfFlags =
    "<html>\n<head>\n<title>/debug/flags/</title>\n</head>\n<body>\n/debug/flags/<br>\n<br>\nflags:<br>\n<table>\n"
    "<tr>v<br>\n</table>\n<br>\nfull flags configurable<br>\n</body>\n</html>\n";

/// Returns the error of Go's strconv.ParseUint for a text that is no verbosity, or "".
std::string VerbosityError(std::string_view text) {
  std::int32_t verbosity = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), verbosity);
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  if (digits && error == std::errc()) return "";
  return fmt::format("strconv.ParseUint: parsing {}: {}", meta::Quoted(text.substr(0, 256)),
                     digits ? "value out of range" : "invalid syntax");
}

Task<> SendPlain(Exchange& exchange, int code, std::string_view text) {
  exchange.reply.SetHeader("x-content-type-options", "nosniff");
  co_await exchange.reply.SendText(code, "text/plain", std::string(text) + "\n");
}

bool WantsPretty(const Exchange& exchange) {
  const std::string parameter = meta::QueryParameters(exchange.query).First("pretty").value_or("");
  return codec::WantsPretty(parameter, exchange.request.Header("user-agent"));
}

Task<> SendPage(Exchange& exchange, mesh::Response page) {
  co_await exchange.reply.Send(page.code, std::move(page.headers), std::move(page.body));
}

}  // namespace

Diagnostics::Diagnostics(Parts parts) : parts_(std::move(parts)), started_(parts_.clock.Now()) {
  if (parts_.features.Enabled(features::kComponentFlagz)) listed_.emplace_back("/flagz");
  listed_.emplace_back("/metrics/slis");
  if (parts_.features.Enabled(features::kComponentStatusz)) listed_.emplace_back("/statusz");
}

bool Diagnostics::Serves(std::string_view path) const {
  return std::find(listed_.begin(), listed_.end(), path) != listed_.end() || path == kDebugFlags ||
         path.starts_with("/debug/flags/") || (parts_.options.profiling && Profiles::Serves(path));
}

bool Diagnostics::ServesAtDebugSocket(std::string_view path) {
  return path == kDebugFlags || path.starts_with("/debug/flags/") || Profiles::Serves(path);
}

Task<> Diagnostics::Answer(Exchange& exchange) {
  const std::string_view accept = exchange.request.Header("accept");
  if (exchange.path == "/statusz") {
    ProcessStatus status{started_, {"/healthz", "/livez", "/metrics", "/readyz", "/version"}};
    for (const std::string& path : listed_) {
      if (path != "/metrics/slis") status.paths.push_back(path);
    }
    std::sort(status.paths.begin(), status.paths.end());
    co_await SendPage(exchange, StatuszPage(accept, WantsPretty(exchange), status, exchange.clock.Now()));
  } else if (exchange.path == "/flagz") {
    co_await SendPage(exchange, FlagzPage(accept, WantsPretty(exchange), parts_.flags));
  } else if (exchange.path == "/metrics/slis") {
    co_await AnswerSlis(exchange);
  } else if (Profiles::Serves(exchange.path)) {
    co_await profiles_.Answer(exchange);
  } else {
    co_await AnswerFlags(exchange);
  }
}

Task<> Diagnostics::AnswerSlis(Exchange& exchange) {
  const std::string& method = exchange.request.method;
  if (method == "DELETE") {
    slis_.Reset();
    co_await exchange.reply.SendText(200, "text/plain; charset=utf-8", "metrics reset\n");
  } else if (method == "GET" || method == "HEAD") {
    co_await exchange.reply.SendText(200, "text/plain; version=0.0.4; charset=utf-8", slis_.Text());
  } else {
    http::Headers headers;
    std::vector<SharedBytes> body;
    co_await exchange.reply.Send(200, std::move(headers), std::move(body));
  }
}

Task<> Diagnostics::AnswerFlags(Exchange& exchange) {
  if (exchange.path != kVerbosity) {
    co_await exchange.reply.SendText(200, "text/html; charset=utf-8", std::string(kIndexOfFlags));
    co_return;
  }
  if (exchange.request.method != "PUT") {
    co_await SendPlain(exchange, 406, "unsupported http method");
    co_return;
  }
  const bool read = co_await ReadBody(exchange);
  if (!read) co_return;
  const std::string verbosity = std::move(exchange.body);
  if (const std::string error = VerbosityError(verbosity); !error.empty()) {
    co_await SendPlain(exchange, 400, error);
    co_return;
  }
  mesh::Request request;
  request.path = service::kVerbosityPath;
  request.body = verbosity;
  request.deadline = exchange.clock.Steady() + kTellTimeout;
  std::vector<std::string> failed;
  for (const std::string& name : parts_.processes.Names()) {
    mesh::Request copy = request;
    const mesh::Response answer = co_await parts_.processes.Ask(name, std::move(copy));
    if (answer.code != 200) failed.push_back(name);
  }
  if (failed.empty()) {
    co_await SendPlain(exchange, 200, fmt::format("successfully set klog.logging.verbosity to {}", verbosity));
  } else {
    co_await SendPlain(exchange, 500, fmt::format("not set in these processes: {}", fmt::join(failed, ", ")));
  }
}

}  // namespace apimesh::aggregator
