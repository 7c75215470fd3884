#include <csignal>
#include <cstdio>
#include <pthread.h>
#include <thread>

#include "lib/base/log.h"
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
  log::Init("store", options.log_format == "json" ? log::Format::kJson : log::Format::kText, ToLevel(options.log_level));
  // Blocked before any thread exists, so that one thread alone gets them.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  store::Server server(options);
  server.Start();
  std::thread([&server, signals] {
    int signal = 0;
    sigwait(&signals, &signal);
    log::Info("stopping");
    server.Stop();
  }).detach();
  server.Run();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
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
