#include <CLI/CLI.hpp>
#include <iostream>

#include "services/aggregator/server.h"

int main(int argc, char** argv) {
  CLI::App app(apimesh::aggregator::kAbout, "aggregator");
  apimesh::aggregator::Options options;
  options.AddTo(app);
  if (const auto exit_code = apimesh::service::Parse(app, argc, argv)) return *exit_code;
  try {
    apimesh::aggregator::Run(options);
  } catch (const std::exception& error) {
    std::cerr << "Error: " << error.what() << '\n';
    return 1;
  }
}
