#include "lib/testing/etcd_process.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/testing/free_port.h"

namespace apimesh::testing {
namespace {

bool Executable(const std::string& path) { return ::access(path.c_str(), X_OK) == 0; }

sockaddr_in Loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

bool Accepts(int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = Loopback(port);
  const bool ok = ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::close(socket);
  return ok;
}

}  // namespace

int FreePort() {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = Loopback(0);
  ::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address);
  socklen_t size = sizeof address;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(socket);
  return ntohs(address.sin_port);
}

std::string EtcdProcess::FindBinary() {
  if (const char* given = std::getenv("APIMESH_ETCD_BINARY"); given && *given) return given;
  std::vector<std::string> folders;
  std::istringstream path(std::getenv("PATH") ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(path, folder, ':');) folders.push_back(folder);
  for (const char* name : {"etcd36", "etcd"}) {
    for (const std::string& folder : folders) {
      if (Executable(folder + "/" + name)) return folder + "/" + name;
    }
  }
  throw std::runtime_error(
      "this test needs an etcd: install the package etcd-server, or set APIMESH_ETCD_BINARY to a binary");
}

std::optional<std::string> EtcdProcess::FindDebianBinary() {
  if (const char* given = std::getenv("APIMESH_DEBIAN_ETCD"); given && Executable(given)) return given;
  return Executable("/usr/bin/etcd") ? std::optional<std::string>("/usr/bin/etcd") : std::nullopt;
}

EtcdProcess::EtcdProcess(Options options) : options_(std::move(options)) {
  if (options_.binary.empty()) options_.binary = FindBinary();
  std::string pattern = (std::filesystem::temp_directory_path() / "apimesh-etcd-XXXXXX").string();
  if (!::mkdtemp(pattern.data())) throw std::runtime_error("no temporary folder for etcd");
  folder_ = pattern;
  port_ = FreePort();
  endpoint_ = options_.scheme + "://127.0.0.1:" + std::to_string(port_);
  Start();
  WaitUntilReady();
}

EtcdProcess::~EtcdProcess() {
  Kill();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void EtcdProcess::Start() {
  const std::string peer = "http://127.0.0.1:" + std::to_string(FreePort());
  std::vector<std::string> arguments = {options_.binary,
                                        "--data-dir=" + folder_ + "/data",
                                        "--listen-client-urls=" + endpoint_,
                                        "--advertise-client-urls=" + endpoint_,
                                        "--listen-peer-urls=" + peer,
                                        "--initial-advertise-peer-urls=" + peer,
                                        "--initial-cluster=default=" + peer,
                                        "--log-level=error"};
  // Some older versions do not have this flag.
  if (!options_.fsync && options_.binary != "/usr/bin/etcd") arguments.push_back("--unsafe-no-fsync");
  arguments.insert(arguments.end(), options_.arguments.begin(), options_.arguments.end());
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const std::string log = folder_ + "/etcd.log";
  process_ = ::fork();
  if (process_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(file, 1);
    ::dup2(file, 2);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
}

void EtcdProcess::WaitUntilReady() {
  for (int tries = 0; tries < 3000; ++tries) {
    if (Accepts(port_)) return;
    int status = 0;
    if (::waitpid(process_, &status, WNOHANG) == process_) {
      process_ = -1;
      throw std::runtime_error("etcd ended at start; see " + folder_ + "/etcd.log");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  throw std::runtime_error("etcd does not listen after 30 s");
}

void EtcdProcess::Kill() {
  if (process_ <= 0) return;
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
  process_ = -1;
}

void EtcdProcess::Pause() { ::kill(process_, SIGSTOP); }
void EtcdProcess::Continue() { ::kill(process_, SIGCONT); }

}  // namespace apimesh::testing
