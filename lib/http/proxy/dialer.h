#pragma once

#include <map>
#include <memory>
#include <string>

#include "lib/http/client.h"

namespace apimesh::http {

/// Opens connections to servers in another network.
class Dialer {
 public:
  virtual ~Dialer() = default;
  /// Connects to "host:port". A name is looked up in the other network. Returns a non-blocking stream socket, which
  /// belongs to the caller, within `deadline` and kLongestDial.
  virtual Task<ClientResult<int>> Dial(std::string address, SteadyTime deadline) = 0;

  static constexpr std::chrono::seconds kLongestDial{30};
};

/// Sets how this process reaches the networks; a network that is not in the map, or has nullptr, is reached directly.
/// Must be called before connections are opened.
void SetDialers(std::map<Network, std::shared_ptr<Dialer>> dialers);
/// Whether the network is in the map of SetDialers().
bool IsConfigured(Network network);
/// nullptr: connections to the network are direct.
std::shared_ptr<Dialer> DialerOf(Network network);

}  // namespace apimesh::http
