#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/async/task.h"
#include "lib/meta/errors/api_error.h"
#include "services/aggregator/delegation/route_table.h"

namespace apimesh::aggregator {

/// A line of the shards file: processes that serve API groups in addition to the common core-api or extensions-api.
struct ShardEntry {
  std::string name;
  std::string process;  // "core-api" or "extensions-api", the identity of the processes
  std::string address;  // of one or several replicas, separated by commas
};

/// Reads {"shards": [{"name": "apps", "process": "core-api", "address": "unix:/run/apps-1.sock"}]}.
meta::Result<std::vector<ShardEntry>> ParseShards(std::string_view text);

/// Keeps the shards of a route table equal to a file, which is read again when it changes. A file that is invalid or
/// missing changes nothing.
class ShardsFile {
 public:
  using Connect = std::function<std::shared_ptr<mesh::DelegateClient>(const ShardEntry& entry)>;
  ShardsFile(std::string file, std::shared_ptr<RouteTable> routes, Connect connect)
      : file_(std::move(file)), routes_(std::move(routes)), connect_(std::move(connect)) {}

  /// Reads the file now.
  void Look();
  /// Looks again and again, forever.
  static Task<> Follow(std::shared_ptr<ShardsFile> self);

 private:
  struct Connected {
    std::string process, address;
    std::shared_ptr<mesh::DelegateClient> client;
  };
  const std::string file_;
  const std::shared_ptr<RouteTable> routes_;
  const Connect connect_;
  std::string known_;  // the text that was handled last
  bool missing_ = false;
  std::map<std::string, Connected> connected_;  // by name
};

}  // namespace apimesh::aggregator
