#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <thread>

#include <pthread.h>
#include <unistd.h>

#include "lib/base/log.h"
#include "lib/base/resident_memory.h"
#include "services/store/maintenance/version.h"
#include "services/store/options/options.h"
#include "services/store/server.h"

namespace {

using namespace apimesh;

log::Level ToLevel(const std::string& name) {
  if (name == "debug") return log::Level::kDebug;
  if (name == "warn") return log::Level::kWarning;
  if (name == "error" || name == "panic" || name == "fatal") return log::Level::kError;
  return log::Level::kInfo;
}

int Serve(const store::Options& options) {
  log::Init("store", options.log_format == "json" ? log::Format::kJson : log::Format::kText, ToLevel(options.log_level),
            Clock::System());
  // OpenSSL may write to a socket whose peer has closed it.
  std::signal(SIGPIPE, SIG_IGN);
  // The signals are blocked before any thread exists, so that only one thread receives them.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  KeepFewArenas();
  store::Server server(options, Clock::System());
  server.Start();
  std::thread([&server, signals] {
    bool stop = false;
    for (const timespec settled : {timespec{0, 500'000'000}, timespec{2, 0}, timespec{10, 0}}) {
      stop = stop || sigtimedwait(&signals, nullptr, &settled) > 0;
      if (!stop) ReleaseIdlePages();
    }
    int signal = 0;
    if (!stop) sigwait(&signals, &signal);
    log::Info("stopping");
    server.Stop();
  }).detach();
  server.Run();
  return 0;
}

// `store snapshot …` and the other tool commands are a separate binary next to this one. That binary loads the gRPC
// library; the server does not.
bool IsToolCommand(const char* word) {
  const std::string_view command(word);
  return command == "snapshot" || command == "import" || command == "export";
}

int RunTool(char** argv) {
  const std::string tool = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "store-tool";
  execv(tool.c_str(), argv);
  throw std::runtime_error("cannot run " + tool + ": " + std::strerror(errno));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 1 && IsToolCommand(argv[1])) return RunTool(argv);
    const store::Options options = store::ParseOptions(std::vector<std::string>(argv + 1, argv + argc));
    if (options.show_help) {
      std::fputs(store::HelpText().c_str(), stdout);
      return 0;
    }
    if (options.show_version) {
      std::printf("etcd Version: %s\nStore: apimesh\n", store::kEtcdVersion);
      return 0;
    }
    return Serve(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "store: %s\n", error.what());
    return 1;
  }
}
