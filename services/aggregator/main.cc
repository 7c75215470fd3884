#include <exception>
#include <iostream>

#include "lib/service/command_line.h"
#include "services/aggregator/server.h"

int main(int argc, char** argv) {
  apimesh::service::CommandLine command_line("aggregator", apimesh::aggregator::kAbout);
  apimesh::aggregator::Options options;
  options.Bind(command_line);
  if (const auto exit_code = command_line.Parse(argc, argv)) return *exit_code;
  try {
    apimesh::aggregator::Run(options, apimesh::Clock::System());
  } catch (const std::exception& error) {
    std::cerr << "Error: " << error.what() << '\n';
    return 1;
  }
}
