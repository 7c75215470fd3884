#pragma once

#include <string>
#include <vector>

#include "services/launcher/flags/flag_parser.h"

namespace apimesh::launcher {

/// The errors and warnings that kube-apiserver reports for a command line.
struct Findings {
  std::vector<std::string> errors;    // prevent the start
  std::vector<std::string> warnings;  // are logged at the start
};

/// Applies the rules of kube-apiserver v1.36 to a command line whose flags have values of the right types. As in
/// kube-apiserver, there are three steps: options are completed (the first error is reported), validated together (all
/// errors are reported), and applied, which reads the files that they name (the first error is reported). The services
/// check the rest: the contents of configuration files and the names of admission plugins.
Findings CheckOptions(const CommandLine& flags);

/// Joins errors as kube-apiserver does: "a", or "[a, b]" without repetitions.
std::string Aggregate(const std::vector<std::string>& errors);

}  // namespace apimesh::launcher
