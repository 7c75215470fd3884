#include <exception>
#include <iostream>

#include "lib/service/command_line.h"
#include "services/extensions-api/server.h"

int main(int argc, char** argv) {
  apimesh::service::CommandLine command_line(
      "extensions-api", "CustomResourceDefinitions and custom resources; the end of the server chain");
  apimesh::extensions_api::Flags flags;
  flags.Bind(command_line);
  if (const auto exit_code = command_line.Parse(argc, argv)) return *exit_code;
  try {
    return apimesh::extensions_api::Run(flags, apimesh::Clock::System());
  } catch (const std::exception& error) {
    std::cerr << "Error: " << error.what() << '\n';
    return 1;
  }
}
