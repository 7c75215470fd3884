#include <cstdio>
#include <exception>

#include "lib/base/log.h"
#include "lib/service/runtime.h"
#include "services/authn-authz/config/options.h"
#include "services/authn-authz/server.h"

int main(int argc, char** argv) {
  using namespace apimesh;
  try {
    authn_authz::Options options;
    if (const std::optional<int> code = authn_authz::ParseCommandLine(argc, argv, options)) return *code;
    service::Runtime runtime("authn-authz", options.common, Clock::System());
    authn_authz::Server server(options, runtime.GetMetrics(), runtime.GetClock());
    for (const std::string& address : options.common.listen) log::Info("listening on {}", address);
    runtime.Health().Add("state", [&server] { return server.WhyNotReady(); }, service::HealthChecks::kReadyz);
    runtime.OnDrain([&server](std::chrono::milliseconds) { server.Stop(); });
    return runtime.Run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "authn-authz: %s\n", error.what());
    return 1;
  }
}
