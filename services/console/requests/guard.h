#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/http/server.h"
#include "lib/meta/errors/api_error.h"

namespace apimesh::console {

/// Refuses requests that a page of another origin has caused.
class Guard {
 public:
  /// `hosts` are names and addresses without a port.
  Guard(std::vector<std::string> hosts, int port, bool tls);

  /// Whether the Host header names this console. Otherwise the request may come from a page whose own name has been
  /// bound to the address of the console (DNS rebinding).
  bool NamesThisConsole(const http::Request& request) const;
  /// Returns the reason to refuse a request that may have an effect or return data: its Origin or Sec-Fetch-Site header
  /// names another origin.
  std::optional<meta::ApiError> ForeignOrigin(const http::Request& request) const;

 private:
  std::vector<std::string> authorities_;  // "localhost:6480"
  const std::string scheme_;
};

/// The value of a cookie; "" if the request has none or several of this name.
std::string CookieOf(const http::Request& request, std::string_view name);

}  // namespace apimesh::console
