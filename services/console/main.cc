#include <cstdio>
#include <exception>

#include "lib/base/log.h"
#include "lib/service/command_line.h"
#include "lib/service/runtime.h"
#include "services/console/server.h"

int main(int argc, char** argv) {
  using namespace apimesh;
  try {
    service::CommandLine command_line("console", console::kAbout);
    console::Options options;
    options.Bind(command_line);
    if (const auto exit_code = command_line.Parse(argc, argv)) return *exit_code;
    service::Runtime runtime("console", options.common, Clock::System());
    console::ConsoleServer server(options, runtime.GetClock());
    log::Info("listening on {}://{}:{}", options.Tls() ? "https" : "http", options.address, server.Port());
    // Watches do not end by themselves, and the pages of a console that stops have nothing to wait for.
    runtime.OnDrain([&server](std::chrono::milliseconds) { server.Drain(std::chrono::milliseconds(200)); });
    return runtime.Run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "console: %s\n", error.what());
    return 1;
  }
}
