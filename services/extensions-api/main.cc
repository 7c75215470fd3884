#include "services/extensions-api/server.h"

#include <CLI/CLI.hpp>
#include <iostream>

int main(int argc, char** argv) {
  CLI::App app("CustomResourceDefinitions and custom resources; the end of the server chain", "extensions-api");
  apimesh::extensions_api::Flags flags;
  flags.AddTo(app);
  if (const auto exit_code = apimesh::service::Parse(app, argc, argv)) return *exit_code;
  try {
    return apimesh::extensions_api::Run(flags);
  } catch (const std::exception& error) {
    std::cerr << "Error: " << error.what() << '\n';
    return 1;
  }
}
