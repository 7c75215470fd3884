#pragma once

#include <string>

#include "services/launcher/flags/flag_parser.h"

namespace apimesh::launcher {

/// The address under which the cluster reaches this server: --advertise-address, else --bind-address, else that of
/// the first interface.
std::string AdvertiseAddress(const CommandLine& flags);

/// The address of the first interface that is up and no loopback; 127.0.0.1 if there is none.
std::string FirstAddress();

}  // namespace apimesh::launcher
