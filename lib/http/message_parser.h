#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "lib/http/server.h"

namespace apimesh::http {

/// Why a message was refused; becomes the status code of the answer.
enum class ParseFailure { kNone, kBadMessage, kHeadersTooLarge, kBodyTooLarge, kTransferEncoding };

/// Reads one request from bytes as they come, the head first and the body only when it is asked for. No I/O, so that it
/// can be fuzzed. Refuses whatever could be read in two ways (both a length and chunks, two hosts, unknown transfer
/// encodings): that is request smuggling.
class RequestParser {
 public:
  enum class Body { kKeep, kDiscard };

  explicit RequestParser(const Limits& limits);
  ~RequestParser();

  /// Reads up to the end of the head. Returns how many bytes were used. What is left over must be given again, with more
  /// behind it, unless HeadDone().
  std::size_t Feed(std::string_view data);
  /// The same for the body, until Done(). Only a body that is kept is held to Limits::body_bytes.
  std::size_t FeedBody(std::string_view data, Body body);
  bool HeadDone() const;
  bool Done() const;
  ParseFailure Failure() const;
  /// After HeadDone().
  bool KeepAlive() const;
  bool IsHttp10() const;
  bool ExpectsContinue() const;
  Request TakeRequest();
  /// The bytes of the body that are still to come; nullopt: unknown, the body comes in chunks.
  std::optional<std::uint64_t> RemainingLength() const;
  std::size_t KeptBytes() const;
  /// The bytes that were kept.
  std::string TakeBody();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Reads one response; body pieces go to `sink` as they are found.
class ResponseParser {
 public:
  ResponseParser(bool answers_head, std::size_t header_limit, std::function<void(std::string_view)> sink);
  ~ResponseParser();

  std::size_t Feed(std::string_view data);
  /// The connection has ended. True if that is a proper end of this message.
  bool FeedEnd();
  bool HeadDone() const;
  bool Done() const;
  bool Failed() const;
  bool KeepAlive() const;
  int Code() const;
  Headers TakeHeaders();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// "" if absent. `name` in lower case, as the names in `headers` are.
std::string_view FindHeader(const Headers& headers, std::string_view name);

}  // namespace apimesh::http
