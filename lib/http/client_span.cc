#include "lib/http/client_span.h"

#include <charconv>

#include <fmt/format.h>

namespace apimesh::http {

std::pair<std::string, int> SplitHostAndPort(std::string_view text) {
  const std::size_t colon = text.rfind(':'), bracket = text.rfind(']');
  int port = 0;
  std::string_view host = text;
  const bool may_have_port = colon != text.npos && (bracket == text.npos ? text.find(':') == colon : bracket < colon);
  if (may_have_port) {
    host = text.substr(0, colon);
    std::from_chars(text.data() + colon + 1, text.data() + text.size(), port);
  }
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return {std::string(host), port};
}

ClientSpan::ClientSpan(const tracing::Carrier& carrier, std::string_view method, std::string_view url,
                       Headers& headers) {
  if (!carrier.span) {
    carrier.AddTo(headers);
    return;
  }
  const std::size_t scheme = url.find("://"), host = scheme == url.npos ? 0 : scheme + 3;
  const auto [name, port] = SplitHostAndPort(url.substr(host, url.find_first_of("/?", host) - host));
  tracing::Attributes attributes = {
      {"http.request.method", std::string(method)}, {"url.full", std::string(url)}, {"server.address", name}};
  constexpr int kHttps = 443;
  if (port > 0 && port != kHttps) attributes.emplace_back("server.port", std::int64_t{port});
  attributes.emplace_back("network.protocol.version", std::string("1.1"));
  span_ = carrier.span->Child(fmt::format("HTTP {}", method), std::move(attributes), tracing::Kind::kClient,
                              tracing::kHttpScope);
  tracing::Carrier{.span = span_, .unrecorded = {}}.AddTo(headers);
}

void ClientSpan::Finish(int code) {
  if (!span_) return;
  span_->Set("http.response.status_code", std::int64_t{code});
  if (code < 100 || code >= 400) {
    span_->Set("error.type", std::to_string(code));
    span_->Fail("");
  }
  span_->End();
}

void ClientSpan::Fail(std::string error) {
  if (!span_) return;
  span_->Set("error.type", std::string("*url.Error"));
  span_->Fail(std::move(error));
  span_->End();
}

}  // namespace apimesh::http
