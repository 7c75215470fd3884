#include <csignal>
#include <cstdio>
#include <exception>

#include "lib/base/log.h"
#include "services/authn-authz/config/options.h"
#include "services/authn-authz/server.h"

int main(int argc, char** argv) {
  using namespace apimesh;
  // Blocked before any thread starts, so that sigwait() below gets them.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  try {
    const authn_authz::Options options = authn_authz::ParseCommandLine(argc, argv);
    log::Init("authn-authz", options.log_format, options.log_level);
    const auto server = authn_authz::Server::Start(options);
    for (const std::string& address : options.listen) log::Info("listening on {}", address);
    int signal = 0;
    sigwait(&signals, &signal);
    log::Info("stopping");
    server->Stop();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "authn-authz: %s\n", error.what());
    return 1;
  }
}
