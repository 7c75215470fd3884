#include "services/aggregator/delegation/shards_file.h"

#include <fstream>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "lib/base/async/wakeup.h"
#include "lib/base/log.h"
#include "lib/mesh/identity.h"

namespace apimesh::aggregator {
namespace {

namespace json = boost::json;

constexpr std::chrono::milliseconds kLookEvery{250};

/// Returns a member that must be a string; "" if it is not.
std::string Text(const json::object& object, std::string_view name) {
  const json::value* found = object.if_contains(name);
  return found && found->is_string() ? std::string(found->get_string()) : std::string();
}

}  // namespace

meta::Result<std::vector<ShardEntry>> ParseShards(std::string_view text) {
  boost::system::error_code error;
  const json::value document = json::parse(text, error);
  const json::value* list = !error && document.is_object() ? document.get_object().if_contains("shards") : nullptr;
  if (!list || !list->is_array()) return meta::BadRequest("it is not a JSON object with a list \"shards\"");
  std::vector<ShardEntry> entries;
  std::set<std::string> names;
  for (const json::value& value : list->get_array()) {
    if (!value.is_object()) return meta::BadRequest("a shard is not an object");
    const json::object& object = value.get_object();
    ShardEntry entry{Text(object, "name"), Text(object, "process"), Text(object, "address")};
    if (entry.name.empty() || entry.address.empty())
      return meta::BadRequest("a shard needs the strings \"name\" and \"address\"");
    if (entry.process != mesh::kCoreApi && entry.process != mesh::kExtensionsApi)
      return meta::BadRequest(fmt::format("the \"process\" of {} is not core-api or extensions-api", entry.name));
    if (!names.insert(entry.name).second)
      return meta::BadRequest(fmt::format("there are two shards with the name {}", entry.name));
    entries.push_back(std::move(entry));
  }
  return entries;
}

void ShardsFile::Look() {
  std::ifstream file(file_, std::ios::binary);
  if (!file) {
    if (!std::exchange(missing_, true)) log::Warning("--shards-file {} can't be read", file_);
    return;
  }
  missing_ = false;
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (text == known_) return;
  known_ = text;
  const meta::Result<std::vector<ShardEntry>> entries = ParseShards(text);
  if (!entries) {
    log::Error("--shards-file {}: {}; the shards stay as they are", file_, entries.error().Message());
    return;
  }
  std::map<std::string, Connected> connected;
  std::vector<ShardServer> servers;
  for (const ShardEntry& entry : *entries) {
    const auto known = connected_.find(entry.name);
    const bool same =
        known != connected_.end() && known->second.process == entry.process && known->second.address == entry.address;
    Connected& one = connected[entry.name];
    try {
      one = same ? known->second : Connected{entry.process, entry.address, connect_(entry)};
    } catch (const std::exception& problem) {
      log::Error("--shards-file {}: {}: {}", file_, entry.name, problem.what());
      connected.erase(entry.name);
      continue;
    }
    servers.push_back({fmt::format("{}-{}", entry.process, entry.name), one.client});
  }
  connected_ = std::move(connected);
  log::Info("--shards-file {}: {} shards", file_, servers.size());
  routes_->SetShards(std::move(servers));
}

Task<> ShardsFile::Follow(std::shared_ptr<ShardsFile> self) {
  for (;;) {
    self->Look();
    co_await SleepFor(kLookEvery);
  }
}

}  // namespace apimesh::aggregator
