#pragma once

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

namespace apimesh::store::crash {

/// The store in its own process, on a Unix socket.
class Process {
 public:
  explicit Process(std::filesystem::path folder) : folder_(std::move(folder)) {
    const std::filesystem::path beside = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    const char* given = std::getenv("APIMESH_STORE_BINARY");
    binary_ = given != nullptr ? std::filesystem::path(given) : beside / "store";
    power_loss_ = beside / "store_power_loss.so";
  }
  ~Process() { Kill(); }
  std::string Address() const { return "unix:" + (folder_ / "socket").string(); }

  /// From now on a kill simulates a power failure: data that was not synced is lost (tests/store/power_loss.cc).
  void WithPowerFailures() { power_failures_ = true; }

  void Start() {
    const std::string data = Data(), disk = Disk(), url = "unix://" + (folder_ / "socket").string();
    pid_ = fork();
    if (pid_ == 0) {
      if (power_failures_) {
        setenv("LD_PRELOAD", power_loss_.c_str(), 1);
        setenv("APIMESH_POWER_LOSS_DATA", data.c_str(), 1);
        setenv("APIMESH_POWER_LOSS_DISK", disk.c_str(), 1);
      }
      execl(binary_.c_str(), "store", "--data-dir", data.c_str(), "--listen-client-urls", url.c_str(), "--log-level",
            "error", nullptr);
      _exit(127);
    }
  }
  void Kill() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
    if (power_failures_) PutBackWhatWasSynced();
  }

 private:
  std::filesystem::path Data() const { return folder_ / "data"; }
  std::filesystem::path Disk() const { return folder_ / "disk"; }

  void PutBackWhatWasSynced() {
    namespace fs = std::filesystem;
    if (!fs::exists(Disk() / "names")) return;
    fs::remove_all(Data());
    for (const auto& listing : fs::directory_iterator(Disk() / "names")) {
      if (listing.path().extension() == ".new") continue;
      std::ifstream lines(listing.path());
      std::string folder, id, name;
      std::getline(lines, folder);
      fs::create_directories(folder);
      while (lines >> id >> name) {
        if (fs::exists(Disk() / id)) {
          fs::copy_file(Disk() / id, fs::path(folder) / name);
        } else {
          std::ofstream(fs::path(folder) / name);  // the file's name was synced, but not its contents
        }
      }
    }
  }

  std::filesystem::path folder_, binary_, power_loss_;
  bool power_failures_ = false;
  pid_t pid_ = -1;
};

}  // namespace apimesh::store::crash
