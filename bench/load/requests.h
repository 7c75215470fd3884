#pragma once

#include <string>

#include "bench/load/report.h"
#include "lib/http/client.h"

namespace apimesh::load {

struct Target {
  std::string url;  // https://host:port
  http::Headers headers;
};

/// The same request over and over, on a number of connections. "{n}" in path and body becomes a number that no other
/// request of the run has, "{w}" the number of the connection.
struct RequestPlan {
  std::string method = "GET";
  std::string path;
  std::string body;
  int connections = 32;
  double seconds = 5;        // ends after this time …
  std::int64_t count = 0;    // … or after this many requests, if given
  std::int64_t first = 0;    // where {n} begins
  int expect_code = 200;
  std::string expect_text;   // must be in every answer …
  std::int64_t expect_times = 0;  // … this many times; 0: at least once
};
Report RunRequests(const Target& target, const RequestPlan& plan);

/// Opens watches, then changes one object again and again and measures how long the last watcher waits for each change.
struct WatchPlan {
  std::string watch_path;
  std::string change_path;  // PATCHed (merge patch); "{n}" in the body
  std::string change_body;
  int watchers = 500;
  int events = 50;
  std::vector<int> server_pids;  // whose CPU time for the deliveries is told
};
Report RunWatch(const Target& target, const WatchPlan& plan);

/// `text` with every "{n}" and "{w}" replaced.
std::string Fill(const std::string& text, std::int64_t number, int worker);

}  // namespace apimesh::load
