#include "services/launcher/shards/shards.h"

#include <algorithm>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "lib/base/log.h"
#include "services/launcher/pki/certificate_folder.h"

namespace apimesh::launcher::shards {
namespace {

namespace json = boost::json;

/// The time in which the aggregator reads the list. A replica that stops earlier withdraws its groups itself.
constexpr std::chrono::milliseconds kUnlistedBefore{750};

bool IsGroupName(const std::string& name) {
  return !name.empty() && name.size() <= 253 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  });
}

}  // namespace

std::vector<ScaledGroup> ReadLayout(const std::string& text) {
  boost::system::error_code error;
  const json::value document = json::parse(text, error);
  std::vector<ScaledGroup> layout;
  const json::value* list = !error && document.is_object() ? document.get_object().if_contains("groups") : nullptr;
  if (!list || !list->is_array()) return layout;
  for (const json::value& value : list->get_array()) {
    if (!value.is_object()) continue;
    const json::object& one = value.get_object();
    const json::value *group = one.if_contains("group"), *process = one.if_contains("process"),
                      *replicas = one.if_contains("replicas");
    if (!group || !process || !replicas || !group->is_string() || !process->is_string() || !replicas->is_int64())
      continue;
    const std::int64_t count = std::clamp<std::int64_t>(replicas->get_int64(), 0, kMaxReplicas);
    layout.push_back({std::string(group->get_string()), std::string(process->get_string()), static_cast<int>(count)});
  }
  return layout;
}

std::string WriteLayout(const std::vector<ScaledGroup>& layout) {
  json::array groups;
  for (const ScaledGroup& one : layout)
    groups.push_back(json::object{{"group", one.group}, {"process", one.process}, {"replicas", one.replicas}});
  return json::serialize(json::object{{"groups", std::move(groups)}});
}

Shards::Shards(Supervisor& supervisor, std::map<std::string, ChildSpec> common, Paths paths, std::string layout_file,
               const Clock& clock)
    : supervisor_(supervisor),
      common_(std::move(common)),
      paths_(std::move(paths)),
      layout_file_(std::move(layout_file)),
      clock_(clock) {
  for (const ScaledGroup& one : ReadLayout(ReadFile(layout_file_))) {
    if (IsGroupName(one.group) && common_.contains(one.process) && one.replicas > 0) wanted_.push_back(one);
  }
  WriteList();
}

std::string Shards::Scale(const std::string& group, const std::string& process, int replicas) {
  if (!IsGroupName(group)) return fmt::format("\"{}\" is not the name of an API group", group);
  if (!common_.contains(process)) return fmt::format("{} cannot be scaled", process);
  if (replicas < 0 || replicas > kMaxReplicas) return fmt::format("replicas must be between 0 and {}", kMaxReplicas);
  std::erase_if(wanted_, [&](const ScaledGroup& one) { return one.group == group; });
  if (replicas > 0) wanted_.push_back({group, process, replicas});
  WriteFile(layout_file_, WriteLayout(wanted_), true);
  return "";
}

const ScaledGroup* Shards::Wanted(const std::string& group) const {
  const auto found = std::find_if(wanted_.begin(), wanted_.end(), [&](const auto& one) { return one.group == group; });
  return found == wanted_.end() ? nullptr : &*found;
}

void Shards::Start(const ScaledGroup& group) {
  int number = 1;
  const auto name = [&] { return fmt::format("{}-{}-{}", group.process, group.group, number); };
  while (std::any_of(replicas_.begin(), replicas_.end(), [&](const Replica& one) { return one.name == name(); }))
    ++number;
  // Socket paths have at most 107 characters, names of groups up to 253.
  ++started_;
  Replica replica{.name = name(),
                  .group = group.group,
                  .process = group.process,
                  .socket = fmt::format("{}/shard-{}.sock", paths_.sockets, started_),
                  .health_socket = fmt::format("{}/shard-{}-health.sock", paths_.sockets, started_)};
  supervisor_.Add(PlanShard(common_.at(group.process), paths_, replica.name, group.group, "unix:" + replica.socket,
                            "unix:" + replica.health_socket),
                  "authn-authz");
  replicas_.push_back(std::move(replica));
}

void Shards::Tick() {
  for (const ScaledGroup& group : wanted_) {
    const auto stays = [&](const Replica& one) { return one.group == group.group && !one.leaving; };
    for (auto count = std::count_if(replicas_.begin(), replicas_.end(), stays); count < group.replicas; ++count)
      Start(group);
  }
  std::map<std::string, int> kept;
  for (Replica& replica : replicas_) {
    const ScaledGroup* wanted = Wanted(replica.group);
    if (replica.leaving) continue;
    if (!wanted || ++kept[replica.group] > wanted->replicas) {
      replica.leaving = true;
      replica.listed = false;
      replica.stop_at = clock_.Steady() + kUnlistedBefore;
    } else if (!replica.listed) {
      replica.listed = IsReady(replica.health_socket);
    }
  }
  WriteList();
  std::erase_if(replicas_, [this](const Replica& replica) {
    if (!replica.leaving || clock_.Steady() < replica.stop_at) return false;
    supervisor_.Remove(replica.name);
    return true;
  });
}

bool Shards::Busy() const {
  const bool waits = std::any_of(replicas_.begin(), replicas_.end(), [](const Replica& one) { return !one.listed; });
  return waits || std::any_of(wanted_.begin(), wanted_.end(), [this](const ScaledGroup& group) {
           return std::none_of(replicas_.begin(), replicas_.end(),
                               [&](const Replica& one) { return one.group == group.group; });
         });
}

std::vector<ScaledGroup> Shards::Layout() const {
  std::vector<ScaledGroup> layout = wanted_;
  for (ScaledGroup& group : layout) {
    group.ready = static_cast<int>(std::count_if(replicas_.begin(), replicas_.end(), [&](const Replica& one) {
      return one.group == group.group && one.listed;
    }));
  }
  return layout;
}

void Shards::WriteList() {
  json::array list;
  for (const ScaledGroup& group : wanted_) {
    std::string addresses;
    for (const Replica& replica : replicas_) {
      if (replica.group != group.group || !replica.listed) continue;
      addresses += fmt::format("{}unix:{}", addresses.empty() ? "" : ",", replica.socket);
    }
    if (!addresses.empty())
      list.push_back(json::object{{"name", group.group}, {"process", group.process}, {"address", addresses}});
  }
  std::string text = json::serialize(json::object{{"shards", std::move(list)}});
  if (text == written_) return;
  WriteFile(ShardsFile(paths_), text, true);
  written_ = std::move(text);
}

}  // namespace apimesh::launcher::shards
