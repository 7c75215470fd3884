#include "services/launcher/inspect/run_folder.h"

#include <chrono>
#include <cstdlib>
#include <stdexcept>

#include <boost/json.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include "lib/base/private_folder.h"
#include "services/launcher/pki/cluster_pki.h"

namespace apimesh::launcher {
namespace json = boost::json;

bool RunFolder::Lock() {
  for (const std::string& folder : {Root(), Pki(), Logs(), Data()}) MakePrivateFolder(folder);
  // Folders that already exist may have another mode. The mode of the root is not changed, because its owner may share
  // it with others.
  for (const std::string& folder : {Pki(), Logs(), Data()})
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
  // The lock is held until the process ends; with O_CLOEXEC, children do not inherit it.
  const int file = ::open((root_ / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  return file >= 0 && ::flock(file, LOCK_EX | LOCK_NB) == 0;
}

bool RunFolder::TakeFirstStart() const {
  const int file = ::open((root_ / "started-before").c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file >= 0) ::close(file);
  return file >= 0;
}

std::string RunFolder::ReplaceData(const std::string& made, const Clock& clock) {
  namespace fs = std::filesystem;
  std::error_code error;
  const auto now = std::chrono::duration_cast<std::chrono::seconds>(clock.Now().time_since_epoch()).count();
  std::string kept;
  if (fs::is_empty(Data(), error)) {
    fs::remove(Data(), error);
  } else {
    kept = fmt::format("{}.before-{}", Data(), now);
    fs::rename(Data(), kept, error);
    if (error) throw std::runtime_error(fmt::format("cannot move {}: {}", Data(), error.message()));
  }
  fs::rename(made, Data(), error);
  if (!error) return kept;
  const std::string why = fmt::format("cannot move {} to {}: {}", made, Data(), error.message());
  if (!kept.empty()) fs::rename(kept, Data(), error);
  throw std::runtime_error(why);
}

void RunFolder::Write(const State& state) const {
  json::array processes;
  for (const Process& process : state.processes) {
    processes.push_back(json::object{{"name", process.name},
                                     {"pid", process.pid},
                                     {"restarts", process.restarts},
                                     {"started", process.started},
                                     {"listens", process.listens}});
  }
  json::array groups;
  for (const ScaledGroup& one : state.groups) {
    groups.push_back(
        json::object{{"group", one.group}, {"process", one.process}, {"replicas", one.replicas}, {"ready", one.ready}});
  }
  const json::object document{{"launcher", state.launcher},  {"control", state.control},
                              {"groups", std::move(groups)}, {"server", state.server},
                              {"ready", state.ready},        {"processes", std::move(processes)}};
  WriteFile(root_ / "state.json", json::serialize(document), true);
}

std::optional<RunFolder::State> RunFolder::Read() const {
  boost::system::error_code error;
  const json::value document = json::parse(ReadFile(root_ / "state.json"), error);
  if (error || !document.is_object()) return std::nullopt;
  const json::object& object = document.get_object();
  State state;
  state.launcher = static_cast<pid_t>(object.at("launcher").as_int64());
  if (::kill(state.launcher, 0) != 0) return std::nullopt;
  state.server = std::string(object.at("server").as_string());
  state.ready = object.at("ready").as_bool();
  for (const json::value& value : object.at("processes").as_array()) {
    const json::object& one = value.as_object();
    state.processes.push_back({std::string(one.at("name").as_string()), static_cast<pid_t>(one.at("pid").as_int64()),
                               static_cast<int>(one.at("restarts").as_int64()), one.at("started").as_int64(),
                               std::string(one.at("listens").as_string())});
  }
  const json::value* control = object.if_contains("control");  // missing if an older version has written the file
  if (control) state.control = std::string(control->as_string());
  const json::value* groups = object.if_contains("groups");
  for (const json::value& value : groups ? groups->as_array() : json::array()) {
    const json::object& one = value.as_object();
    state.groups.push_back({std::string(one.at("group").as_string()), std::string(one.at("process").as_string()),
                            static_cast<int>(one.at("replicas").as_int64()),
                            static_cast<int>(one.at("ready").as_int64())});
  }
  return state;
}

std::string DefaultRunFolder() {
  const char* folder = std::getenv("APIMESH_DIR");
  return folder && *folder ? folder : ".apimesh";
}

}  // namespace apimesh::launcher
