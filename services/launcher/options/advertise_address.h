#pragma once

#include <string>

#include "services/launcher/flags/flag_parser.h"

namespace apimesh::launcher {

/// The address under which the cluster reaches this server: --advertise-address, else --bind-address, else that of
/// the first interface.
std::string AdvertiseAddress(const CommandLine& flags);

/// The address of the first interface that is up and no loopback; 127.0.0.1 if there is none.
std::string FirstAddress();
/// The address that other machines can use for a server that listens on `bind`: `bind` itself, or the first address of this
/// machine if `bind` is unspecified or loopback. A loopback address can't be an endpoint of the service "kubernetes".
std::string AdvertisedAddress(const std::string& bind);

}  // namespace apimesh::launcher
