#include "lib/http/resolve.h"

#include <algorithm>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

namespace apimesh::http {
namespace {

namespace asio = boost::asio;

using Code = ClientError::Code;

ClientError NoSuchHost(std::string_view host) { return {Code::kLookup, fmt::format("lookup {}: no such host", host)}; }

/// No top-level domain is a number, so a host whose last label is one can only be intended as an address.
bool LooksLikeNumber(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  const std::string_view label = host.substr(host.rfind('.') + 1);
  if (label.starts_with("0x") || label.starts_with("0X")) return true;
  return !label.empty() && std::all_of(label.begin(), label.end(), [](unsigned char c) { return std::isdigit(c); });
}

}  // namespace

Task<ClientResult<std::vector<IpAddress>>> Resolve(std::string host) {
  std::vector<IpAddress> addresses;
  if (const std::optional<IpAddress> literal = ParseIp(host)) {
    addresses.push_back(*literal);
    co_return addresses;
  }
  if (LooksLikeNumber(host)) co_return NoSuchHost(host);
  asio::ip::tcp::resolver resolver(co_await asio::this_coro::executor);
  boost::system::error_code failure;
  const auto found = co_await resolver.async_resolve(host, "", asio::redirect_error(asio::use_awaitable, failure));
  if (failure == asio::error::host_not_found || failure == asio::error::no_data) co_return NoSuchHost(host);
  if (failure) co_return ClientError{Code::kLookup, fmt::format("lookup {}: {}", host, failure.message())};
  for (const auto& entry : found) addresses.push_back(entry.endpoint().address());
  if (addresses.empty()) co_return NoSuchHost(host);
  co_return addresses;
}

Task<ClientResult<std::vector<IpAddress>>> AllowedAddresses(std::string host, const ClientOptions& options) {
  const ResolveFn resolve = options.resolve ? options.resolve : ResolveFn(&Resolve);
  ClientResult<std::vector<IpAddress>> found = co_await resolve(std::move(host));
  if (!found || !options.allow_address) co_return found;
  for (const IpAddress& address : *found) {
    if (!options.allow_address(address)) co_return ClientError{Code::kAddressNotAllowed, "address not allowed"};
  }
  co_return found;
}

}  // namespace apimesh::http
