#include "lib/http/http2/request_head.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "lib/http/message_parser.h"

namespace apimesh::http {
namespace {

bool IsNameChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool IsValueChar(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte == '\t' || (byte >= ' ' && byte != 0x7f);
}

/// Headers that describe an HTTP/1.1 connection, with their names in the canonical form.
constexpr std::pair<std::string_view, std::string_view> kOfConnection[] = {
    {"connection", "Connection"},
    {"keep-alive", "Keep-Alive"},
    {"proxy-connection", "Proxy-Connection"},
    {"transfer-encoding", "Transfer-Encoding"},
    {"upgrade", "Upgrade"},
};

}  // namespace

bool Http2RequestHead::Add(std::string_view name, std::string_view value) {
  bytes_ += name.size() + value.size();
  ++fields_;
  if (!std::all_of(value.begin(), value.end(), &IsValueChar)) return false;
  if (name.starts_with(':')) return AddPseudo(name, value);
  if (name.empty() || !std::all_of(name.begin(), name.end(), &IsNameChar)) return false;
  if (name == "content-length") {
    std::uint64_t length = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), length);
    if (error != std::errc() || end != value.data() + value.size() || length_.value_or(length) != length) return false;
    length_ = length;
  }
  if (TooLarge()) return true;
  if (name == "host" && std::exchange(has_host_, true)) return false;
  for (const auto& [lower, canonical] : kOfConnection) {
    if (name == lower && not_for_http2_.empty())
      not_for_http2_ = fmt::format("request header \"{}\" is not valid in HTTP/2", canonical);
  }
  if (name == "te" && !value.empty() && value != "trailers" && not_for_http2_.empty())
    not_for_http2_ = "request header \"TE\" may only be \"trailers\" in HTTP/2";
  if (name == "expect") expects_continue_ = value == "100-continue";
  request_.headers.emplace_back(name, value);
  return true;
}

bool Http2RequestHead::AddPseudo(std::string_view name, std::string_view value) {
  if (!request_.headers.empty()) return false;  // they come first
  std::string* const part = name == ":method"      ? &request_.method
                            : name == ":path"      ? &request_.target
                            : name == ":scheme"    ? &scheme_
                            : name == ":authority" ? &authority_
                                                   : nullptr;
  if (part == nullptr || !part->empty()) return false;
  if (!TooLarge()) *part = value;
  return true;
}

bool Http2RequestHead::End() const {
  if (TooLarge()) return true;
  if (request_.method == "CONNECT") return request_.target.empty() && scheme_.empty() && !authority_.empty();
  return !request_.method.empty() && !request_.target.empty() && (scheme_ == "http" || scheme_ == "https");
}

std::optional<Refusal> Http2RequestHead::Refused() const {
  if (TooLarge()) return Refusal{Refusal::Cause::kHeadTooLarge};
  if (!not_for_http2_.empty()) return Refusal{Refusal::Cause::kMalformed, not_for_http2_};
  if (request_.target.empty()) return Refusal{Refusal::Cause::kMalformed};
  return std::nullopt;
}

Request Http2RequestHead::Take() {
  Request request = std::move(request_);
  if (authority_.empty()) return request;
  std::erase_if(request.headers, [](const auto& header) { return header.first == "host"; });
  request.headers.insert(request.headers.begin(), {"host", std::move(authority_)});
  return request;
}

}  // namespace apimesh::http
