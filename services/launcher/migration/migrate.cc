#include "services/launcher/migration/migrate.h"

#include <chrono>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include <boost/json.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "services/launcher/commands/backup.h"
#include "services/launcher/inspect/run_folder.h"
#include "services/launcher/mesh/mesh_plan.h"
#include "services/launcher/migration/migration_report.h"
#include "services/launcher/process/child.h"
#include "services/launcher/process/run_program.h"

namespace apimesh::launcher {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

constexpr std::chrono::seconds kStoreLimit{60};

std::vector<std::string> IfSet(const std::string& flag, const std::string& value) {
  if (value.empty()) return {};
  return {fmt::format("--{}={}", flag, value)};
}

void Append(std::vector<std::string>& words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
}

std::string Absolute(const std::string& file) { return file.empty() ? file : fs::absolute(file).string(); }

/// A folder that exists until the end of the migration, and is removed if that fails.
class TemporaryFolder {
 public:
  /// The name is fixed: what a migration that was killed has left is replaced by the next one.
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) { Remove(); }
  ~TemporaryFolder() { Remove(); }
  TemporaryFolder(const TemporaryFolder&) = delete;

  const std::string& Path() const { return path_; }

 private:
  void Remove() const {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const std::string path_;
};

bool Accepts(const std::string& socket_path) {
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, socket_path.c_str(), sizeof address.sun_path - 1);
  const bool accepted = ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::close(socket);
  return accepted;
}

/// The embedded store, which serves a copy of the data while it is checked.
class TemporaryStore {
 public:
  TemporaryStore(const std::string& data, const InterruptScope& interrupt, const Clock& clock)
      : sockets_(MakeSocketFolder()) {
    const std::string log = data + "/check.log";
    pid_ = StartChild({.name = "store",
                       .arguments = {OwnFolder() + "/store", "--data-dir=" + data, "--listen-client-urls=" + Url()},
                       .log_file = log,
                       .own_group = true});
    const SteadyTime limit = clock.Steady() + kStoreLimit;
    while (!Accepts(sockets_ + "/store.sock")) {
      if (::waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = 0;
      if (pid_ == 0 || clock.Steady() > limit || interrupt.Interrupted()) {
        Stop();
        throw std::runtime_error("the store does not start with the copy of the data; its log is in " + log);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    fs::remove(log);
  }
  ~TemporaryStore() { Stop(); }
  TemporaryStore(const TemporaryStore&) = delete;

  std::string Url() const { return "unix://" + sockets_ + "/store.sock"; }

 private:
  void Stop() {
    if (pid_ > 0) {
      ::kill(pid_, SIGTERM);
      while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {}
    }
    RemoveSocketFolder(sockets_);
  }

  const std::string sockets_;
  pid_t pid_ = 0;
};

class Migration {
 public:
  Migration(const MigrateOptions& options, const Clock& clock) : options_(options), clock_(clock) {}

  void Run() {
    if (options_.in_place) {
      Check(options_.from, true);
      Finish({.next = UpCommand(fmt::format("--etcd-servers={}", options_.from), true)});
    } else if (!options_.snapshot.empty()) {
      MakeSnapshot();
    } else {
      FillMesh();
    }
  }

 private:
  struct Outcome {
    std::string data, kept, next;
  };

  /// Runs a program of the mesh. Throws if it fails; it has said why on standard error.
  std::string RunTool(std::vector<std::string> words, const char* failure) {
    words[0] = OwnFolder() + "/" + words[0];
    const ProgramResult result = RunProgram(words, Output::kReturn);
    if (result.exit_code != 0) throw std::runtime_error(failure);
    return result.output;
  }

  void Copy(const std::string& data, bool continue_later) {
    std::vector<std::string> words = {"store", "import", "--from=" + options_.from, "--data-dir=" + data};
    Append(words, IfSet("cacert", options_.ca_file));
    Append(words, IfSet("cert", options_.cert_file));
    Append(words, IfSet("key", options_.key_file));
    if (continue_later) words.push_back(fmt::format("--bump-revision={}", kRevisionBump));
    RunTool(words,
            "the data could not be copied; check --from and the certificates, then try again. Nothing was changed");
  }

  /// Checks all objects and prints what was found. Throws if some of them would be lost.
  void Check(const std::string& url, bool original) {
    std::vector<std::string> words = {"object-check", "--etcd-servers=" + url, "--etcd-prefix=" + options_.prefix};
    if (original) Append(words, EtcdFlags());
    Append(words, IfSet("encryption-provider-config", options_.encryption_config));
    report_.emplace(RunTool(words, "the objects could not be checked; nothing was changed"));
    if (!options_.as_json) fmt::print("{}", report_->Text());
    if (report_->Damaged() == 0 || options_.accept_problems) return;
    const std::string why = fmt::format(
        "nothing was changed, because {} objects cannot be read or would lose fields. If they are encrypted, give "
        "--encryption-provider-config; otherwise repair or delete them with the original server, or add "
        "--accept-problems to go on without them",
        report_->Damaged());
    if (options_.as_json) fmt::print("{}\n", json::serialize(report_->Document()));
    throw std::runtime_error(why);
  }

  std::vector<std::string> EtcdFlags() const {
    std::vector<std::string> flags;
    Append(flags, IfSet("etcd-cafile", Absolute(options_.ca_file)));
    Append(flags, IfSet("etcd-certfile", Absolute(options_.cert_file)));
    Append(flags, IfSet("etcd-keyfile", Absolute(options_.key_file)));
    return flags;
  }

  std::string UpCommand(const std::string& argument, bool original) const {
    std::vector<std::string> flags = report_->Flags();
    if (original) Append(flags, EtcdFlags());
    if (options_.prefix != MigrateOptions().prefix) Append(flags, IfSet("etcd-prefix", options_.prefix));
    Append(flags, IfSet("encryption-provider-config", Absolute(options_.encryption_config)));
    return fmt::format("./apimesh up {}{}{}", argument, flags.empty() ? "" : " -- ", fmt::join(flags, " "));
  }

  void FillMesh() {
    RunFolder folder(options_.folder);
    if (!folder.Lock())
      throw std::runtime_error(
          fmt::format("the mesh in {} runs; stop it first: ./apimesh down --dir {}", folder.Root(), folder.Root()));
    const TemporaryFolder copy(folder.Data() + ".migrating");
    Copy(copy.Path(), true);
    {
      const TemporaryStore store(copy.Path(), interrupt_, clock_);
      Check(store.Url(), false);
    }
    const std::string kept = folder.ReplaceData(copy.Path(), clock_);
    Finish({.data = folder.Data(), .kept = kept, .next = UpCommand("--dir=" + folder.Root(), false)});
  }

  void MakeSnapshot() {
    const std::string file = Absolute(options_.snapshot);
    if (fs::exists(file)) throw std::runtime_error(fmt::format("{} exists; choose another name or remove it", file));
    const TemporaryFolder copy(file + ".migrating");
    Copy(copy.Path(), false);
    const TemporaryStore store(copy.Path(), interrupt_, clock_);
    Check(store.Url(), false);
    RunTool({"store", "snapshot", "save", file, "--endpoints=" + store.Url()}, "the snapshot could not be written");
    Finish({.data = file,
            .next = fmt::format("etcdutl snapshot restore {} --data-dir=DIR --bump-revision={} --mark-compacted", file,
                                kRevisionBump)});
  }

  void Finish(const Outcome& outcome) const {
    if (options_.as_json) {
      json::object document = report_->Document();
      document["data"] = outcome.data;
      document["previousData"] = outcome.kept;
      document["next"] = outcome.next;
      fmt::print("{}\n", json::serialize(document));
      return;
    }
    if (!outcome.data.empty()) fmt::print("The data is in {}.\n", outcome.data);
    if (!outcome.kept.empty())
      fmt::print("The previous data is in {}; remove it when you do not need it any more.\n", outcome.kept);
    fmt::print("Next: {}\n", outcome.next);
  }

  const MigrateOptions& options_;
  const Clock& clock_;
  const InterruptScope interrupt_;
  std::optional<MigrationReport> report_;
};

}  // namespace

int Migrate(const MigrateOptions& options, const Clock& clock) {
  try {
    Migration(options, clock).Run();
    return 0;
  } catch (const std::exception& error) {
    std::fflush(stdout);
    fmt::print(stderr, "apimesh: {}\n", error.what());
    return 1;
  }
}

}  // namespace apimesh::launcher
