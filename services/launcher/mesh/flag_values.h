#pragma once

#include <string>

#include "services/launcher/flags/flag_parser.h"

namespace apimesh::launcher {

/// Writes the value of every flag of kube-apiserver to a JSON file that only this user can read: the aggregator reports
/// them at /flagz, and no service knows all of them. Throws std::runtime_error.
void WriteFlagValues(const CommandLine& flags, const std::string& file);

/// The value in the form in which kube-apiserver reports it: "[a,b]" for lists, "1m0s" for durations.
std::string ShownValue(const CommandLine& flags, const Flag& flag);

}  // namespace apimesh::launcher
