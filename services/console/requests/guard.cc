#include "services/console/requests/guard.h"

#include <algorithm>

#include <fmt/format.h>

#include "lib/base/text/text.h"
#include "lib/base/text/trim.h"

namespace apimesh::console {
namespace {

/// Returns the only value of a header; nullopt if there is none or several.
std::optional<std::string_view> OnlyValue(const http::Request& request, std::string_view name) {
  std::optional<std::string_view> value;
  for (const auto& [header, text] : request.headers) {
    if (header != name) continue;
    if (value) return std::nullopt;
    value = text;
  }
  return value;
}

meta::ApiError Refused(std::string message) {
  return meta::ApiError({.code = 403, .reason = meta::Reason::kForbidden, .message = std::move(message)});
}

}  // namespace

Guard::Guard(std::vector<std::string> hosts, int port, bool tls) : scheme_(tls ? "https://" : "http://") {
  const int usual = tls ? 443 : 80;
  for (std::string& host : hosts) {
    const std::string name = host.find(':') == std::string::npos ? LowerCase(host) : "[" + LowerCase(host) + "]";
    authorities_.push_back(fmt::format("{}:{}", name, port));
    if (port == usual) authorities_.push_back(name);
  }
}

bool Guard::NamesThisConsole(const http::Request& request) const {
  const auto host = OnlyValue(request, "host");
  return host && std::find(authorities_.begin(), authorities_.end(), LowerCase(*host)) != authorities_.end();
}

std::optional<meta::ApiError> Guard::ForeignOrigin(const http::Request& request) const {
  const std::string host = LowerCase(request.Header("host"));
  for (const auto& [name, value] : request.headers) {
    if (name == "origin" && LowerCase(value) != scheme_ + host)
      return Refused("the request comes from a page of another origin");
    if (name == "sec-fetch-site" && value != "same-origin")
      return Refused("the request was not made by a page of the console");
  }
  return std::nullopt;
}

std::string CookieOf(const http::Request& request, std::string_view name) {
  std::string found;
  for (const auto& [header, value] : request.headers) {
    if (header != "cookie") continue;
    for (const std::string_view part : Split(value, ';')) {
      const std::string_view pair = TrimSpace(part);
      if (!pair.starts_with(name) || pair.substr(name.size(), 1) != "=") continue;
      if (!found.empty()) return "";
      found = pair.substr(name.size() + 1);
    }
  }
  return found;
}

}  // namespace apimesh::console
