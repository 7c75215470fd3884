#include "services/aggregator/health/chain_health.h"

#include <chrono>
#include <vector>

#include "lib/meta/errors/field_error.h"
#include "lib/meta/selectors/query.h"
#include "lib/service/chain.h"

namespace apimesh::aggregator {
namespace {

constexpr std::chrono::seconds kTimeout{2};

/// A line of a report: "[+]NAME ok", "[-]NAME failed: …" or "[+]NAME excluded: ok".
struct Line {
  std::string text;
  std::string name;
  bool failed = false;
  bool excluded = false;
};

std::vector<Line> Checks(std::string_view report) {
  std::vector<Line> lines;
  while (!report.empty()) {
    const std::size_t end = std::min(report.find('\n'), report.size());
    const std::string_view text = report.substr(0, end);
    report.remove_prefix(std::min(end + 1, report.size()));
    if (!text.starts_with("[+]") && !text.starts_with("[-]")) continue;
    const std::size_t space = text.find(' ');
    lines.push_back(
        {std::string(text), std::string(text.substr(3, space - 3)), text[1] == '-', text.ends_with(" excluded: ok")});
  }
  return lines;
}

/// Returns the checks in ?exclude= that no process of the chain has.
std::vector<std::string> UnknownExclusions(std::string_view query, const std::vector<Line>& lines) {
  std::vector<std::string> unknown;
  for (const std::string& name : meta::QueryParameters(query).All("exclude")) {
    const auto has_name = [&name](const Line& line) { return line.name == name; };
    if (std::none_of(lines.begin(), lines.end(), has_name)) unknown.push_back(meta::Quoted(name));
  }
  return unknown;
}

bool Mentions(std::string_view query, std::string_view key) {
  return query.starts_with(key) || query.find("&" + std::string(key)) != std::string_view::npos;
}

}  // namespace

std::string MergeReports(std::string_view own, std::string_view other) {
  std::vector<Line> lines = Checks(own);
  std::optional<Line> shutdown;  // stays last
  if (!lines.empty() && lines.back().name == "shutdown") {
    shutdown = std::move(lines.back());
    lines.pop_back();
  }
  for (Line& line : Checks(other)) {
    const auto same = [&line](const Line& known) { return known.name == line.name; };
    if (shutdown && same(*shutdown)) {
      if (line.failed) shutdown = std::move(line);
    } else if (const auto found = std::find_if(lines.begin(), lines.end(), same); found == lines.end()) {
      lines.push_back(std::move(line));
    } else if (line.failed) {
      *found = std::move(line);
    }
  }
  if (shutdown) lines.push_back(std::move(*shutdown));
  std::string report;
  for (const Line& line : lines) report += line.text + "\n";
  return report;
}

Task<mesh::Response> AnswerHealth(const service::HealthChecks& own, RoutesPtr routes, mesh::Request request,
                                  HealthSlis& slis, const Clock& clock) {
  const std::string name = request.path.substr(1);
  const bool whole = name.find('/') == std::string::npos;
  const std::string asked = request.query;
  const bool verbose = Mentions(asked, "verbose");
  if (whole && !verbose) request.query += request.query.empty() ? "verbose" : "&verbose";
  std::optional<mesh::Response> answer = own.Answer(request.path, request.query);
  if (!whole && answer) co_return std::move(*answer);
  request.deadline = clock.Steady() + kTimeout;
  std::string report = answer ? answer->Text() : "";
  for (const Delegate& delegate : routes->delegates) {
    // The aggregator's own check reports a delegate that is down.
    if (!delegate.up || delegate.kind != Delegate::Kind::kChain) continue;
    mesh::Request asked_of_it = request;
    mesh::Response response = co_await delegate.client->Call(std::move(asked_of_it));
    if (whole) {
      const std::string body = response.Text();
      if (!Checks(body).empty()) {
        report = MergeReports(report, body);
      } else if (response.code >= 500) {  // the delegate sent no report
        report = MergeReports(report, fmt::format("[-]{} failed: reason withheld\n", delegate.name));
      }
    } else if (response.code != 404) {
      co_return response;
    }
  }
  if (!whole) co_return service::PlainNotFound();
  const std::vector<Line> lines = Checks(report);
  for (const Line& line : lines) {
    if (!line.excluded) slis.Observe(name, line.name, !line.failed);
  }
  const bool failed = std::any_of(lines.begin(), lines.end(), [](const Line& line) { return line.failed; });
  mesh::Response response;
  response.code = failed ? 500 : 200;
  response.headers = {{"content-type", "text/plain; charset=utf-8"}, {"x-content-type-options", "nosniff"}};
  std::string text = "ok";
  if (failed || verbose) {
    text.clear();
    for (const Line& line : lines) text += line.text + "\n";
    if (const std::vector<std::string> unknown = UnknownExclusions(asked, lines); !unknown.empty()) {
      text += fmt::format("warn: some health checks cannot be excluded: no matches for {}\n", fmt::join(unknown, ","));
    }
    text += fmt::format("{} check {}\n", name, failed ? "failed" : "passed");
  }
  response.body.emplace_back(std::move(text));
  co_return response;
}

Task<std::vector<std::string>> HealthPaths(const service::HealthChecks& own, RoutesPtr routes, mesh::Request request,
                                           const Clock& clock) {
  std::vector<std::string> paths;
  request.query = "verbose";
  request.deadline = clock.Steady() + kTimeout;
  for (const char* page : {"/healthz", "/livez", "/readyz"}) {
    request.path = page;
    std::string report;
    if (const std::optional<mesh::Response> answer = own.Answer(request.path, request.query)) report = answer->Text();
    for (const Delegate& delegate : routes->delegates) {
      if (!delegate.up || delegate.kind != Delegate::Kind::kChain) continue;
      mesh::Request asked_of_it = request;
      const mesh::Response response = co_await delegate.client->Call(std::move(asked_of_it));
      report = MergeReports(report, response.Text());
    }
    for (const Line& line : Checks(report)) paths.push_back(fmt::format("{}/{}", page, line.name));
  }
  co_return paths;
}

}  // namespace apimesh::aggregator
