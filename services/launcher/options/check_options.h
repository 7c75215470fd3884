#pragma once

#include <string>
#include <vector>

#include "services/launcher/flags/flag_parser.h"

namespace apimesh::launcher {

/// What kube-apiserver says about a command line.
struct Findings {
  std::vector<std::string> errors;    // the server does not start
  std::vector<std::string> warnings;  // it starts and logs these
};

/// Applies the rules of kube-apiserver v1.36 to a command line whose flags have values of the right types. As in
/// kube-apiserver, there
/// are three steps: options are completed (the first error counts), validated together (all errors count), and
/// applied, which reads
/// the files that they name (the first error counts). Services check what only they can know: the contents of
/// configuration files, the
/// names of admission plugins.
Findings CheckOptions(const CommandLine& flags);

/// Several errors as kube-apiserver shows them: "a", or "[a, b]" with each text once.
std::string Aggregate(const std::vector<std::string>& errors);

}  // namespace apimesh::launcher
