// A load generator with low overhead. It verifies every response and prints one line of JSON.
#include <cstdio>
#include <fstream>
#include <sstream>

#include <CLI/CLI.hpp>

#include "bench/load/requests.h"

namespace {

std::string FromFile(const std::string& text) {
  if (!text.starts_with('@')) return text;
  std::ifstream file(text.substr(1));
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

}  // namespace

int main(int argc, char** argv) {
  using namespace apimesh::load;
  CLI::App app("load: sends requests to an API server, verifies the answers, prints figures as JSON.");
  app.require_subcommand(1);
  Target target;
  std::vector<std::string> headers;
  app.add_option("--url", target.url, "https://host:port")->required();
  app.add_option("--header", headers, "name: value; may be repeated");

  RequestPlan plan;
  CLI::App* requests =
      app.add_subcommand("requests", "one request over and over; {n} and {w} in path and body are numbers");
  requests->add_option("--method", plan.method);
  requests->add_option("--path", plan.path)->required();
  requests->add_option("--body", plan.body, "text, or @file");
  requests->add_option("--connections", plan.connections);
  requests->add_option("--seconds", plan.seconds);
  requests->add_option("--count", plan.count, "this many requests instead of a time");
  requests->add_option("--first", plan.first, "where {n} begins");
  requests->add_option("--expect-code", plan.expect_code);
  requests->add_option("--expect-text", plan.expect_text, "must be in every answer");
  requests->add_option("--expect-times", plan.expect_times, "so many times");

  WatchPlan watch;
  CLI::App* watches = app.add_subcommand("watch", "many watches of one object that changes");
  watches->add_option("--path", watch.watch_path)->required();
  watches->add_option("--change-path", watch.change_path)->required();
  watches->add_option("--change-body", watch.change_body)->required();
  watches->add_option("--watchers", watch.watchers);
  watches->add_option("--events", watch.events);
  watches->add_option("--server-pids", watch.server_pids, "processes whose CPU time for the deliveries is reported")
      ->delimiter(',');
  CLI11_PARSE(app, argc, argv);

  for (const std::string& header : headers) {
    const std::size_t colon = header.find(':');
    std::string name = header.substr(0, colon);
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    target.headers.emplace_back(name, header.substr(std::min(header.find_first_not_of(": ", colon), header.size())));
  }
  plan.body = FromFile(plan.body);
  Report report = requests->parsed() ? RunRequests(target, plan) : RunWatch(target, watch);
  std::printf("%s\n", report.ToJson().c_str());
  return report.errors == 0 ? 0 : 1;
}
