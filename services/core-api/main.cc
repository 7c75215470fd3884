#include <exception>
#include <iostream>

#include "lib/service/command_line.h"
#include "services/core-api/server.h"

int main(int argc, char** argv) {
  apimesh::service::CommandLine command_line("core-api", "the built-in API groups");
  apimesh::core_api::ServerFlags flags;
  flags.Bind(command_line);
  if (const auto exit_code = command_line.Parse(argc, argv)) return *exit_code;
  try {
    return apimesh::core_api::Run(flags, apimesh::Clock::System());
  } catch (const std::exception& error) {
    std::cerr << "Error: " << error.what() << '\n';
    return 1;
  }
}
