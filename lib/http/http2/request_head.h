#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lib/http/refusal.h"
#include "lib/http/server.h"

namespace apimesh::http {

/// Checks the head of an HTTP/2 request and collects it. Names and values that HTTP/1.1 could not express are refused,
/// because a server behind this one may read them as something else.
class Http2RequestHead {
 public:
  explicit Http2RequestHead(const Limits& limits) : limits_(limits) {}

  /// Adds one field. Returns false if the request is malformed: its stream must be reset with PROTOCOL_ERROR.
  bool Add(std::string_view name, std::string_view value);
  /// The same for the end of the head.
  bool End() const;
  /// The bytes of names and values so far; those above the limit are not kept.
  std::size_t Bytes() const { return bytes_; }
  /// Why a request that is well-formed is refused, if it is. Must be called after End().
  std::optional<Refusal> Refused() const;
  /// The value of Content-Length.
  std::optional<std::uint64_t> Length() const { return length_; }
  bool ExpectsContinue() const { return expects_continue_; }
  Request Take();

 private:
  bool AddPseudo(std::string_view name, std::string_view value);
  bool TooLarge() const { return bytes_ > limits_.header_bytes || fields_ > limits_.header_fields; }

  const Limits& limits_;
  Request request_;
  std::string authority_, scheme_;
  std::string not_for_http2_;  // the reason for a 400
  std::optional<std::uint64_t> length_;
  std::size_t bytes_ = 0, fields_ = 0;
  bool expects_continue_ = false, has_host_ = false;
};

}  // namespace apimesh::http
