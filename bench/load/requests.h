#pragma once

#include <string>

#include "bench/load/report.h"
#include "lib/http/client.h"

namespace apimesh::load {

struct Target {
  std::string url;  // https://host:port
  http::Headers headers;
};

/// The same request, repeated on a number of connections. In path and body, "{n}" is replaced by a number that is
/// unique in the run and "{w}" by the number of the connection.
struct RequestPlan {
  std::string method = "GET";
  std::string path;
  std::string body;
  int connections = 32;
  double seconds = 5;      // ends after this time …
  std::int64_t count = 0;  // … or after this many requests, if given
  std::int64_t first = 0;  // first value of {n}
  int expect_code = 200;
  std::string expect_text;        // must be in every response …
  std::int64_t expect_times = 0;  // … this many times; 0: at least once
};
Report RunRequests(const Target& target, const RequestPlan& plan);

/// Opens watches, then repeatedly changes one object and measures the time until the last watcher has received each
/// change.
struct WatchPlan {
  std::string watch_path;
  std::string change_path;  // PATCHed (merge patch); "{n}" in the body
  std::string change_body;
  int watchers = 500;
  int events = 50;
  std::vector<int> server_pids;  // processes whose CPU time is reported
};
Report RunWatch(const Target& target, const WatchPlan& plan);

/// Returns `text` with every "{n}" and "{w}" replaced.
std::string Fill(const std::string& text, std::int64_t number, int worker);

}  // namespace apimesh::load
