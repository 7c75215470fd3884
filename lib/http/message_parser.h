#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "lib/http/server.h"

namespace apimesh::http {

/// The reason why a message was refused.
enum class ParseFailure { kNone, kBadMessage, kHeadersTooLarge, kBodyTooLarge, kTransferEncoding };
/// The refusal of a request that has failed to parse for that reason.
Refusal RefusalOf(ParseFailure failure, const Limits& limits);

/// Parses one request incrementally: the head first, and the body only on demand. It performs no I/O, so that it can be
/// fuzzed. It refuses ambiguous requests (both a length and chunks, two hosts, unknown transfer encodings), because
/// they allow request smuggling.
class RequestParser {
 public:
  enum class Body { kKeep, kDiscard };

  explicit RequestParser(const Limits& limits);
  ~RequestParser();

  /// Parses up to the end of the head and returns how many bytes were consumed. Unless HeadDone(), the caller must pass
  /// the remaining bytes again, followed by new ones.
  std::size_t Feed(std::string_view data);
  /// The same for the body, until Done(). Limits::body_bytes applies only to a body that is kept.
  std::size_t FeedBody(std::string_view data, Body body);
  bool HeadDone() const;
  bool Done() const;
  ParseFailure Failure() const;
  /// The following may be called only after HeadDone().
  bool KeepAlive() const;
  bool IsHttp10() const;
  bool ExpectsContinue() const;
  Request TakeRequest();
  /// The number of body bytes that are still missing; nullopt if unknown, because the body is chunked.
  std::optional<std::uint64_t> RemainingLength() const;
  std::size_t KeptBytes() const;
  /// The body bytes that were kept.
  std::string TakeBody();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Parses one response; body pieces are passed to `sink` as they are found.
class ResponseParser {
 public:
  ResponseParser(bool answers_head, std::size_t header_limit, std::function<void(std::string_view)> sink);
  ~ResponseParser();

  std::size_t Feed(std::string_view data);
  /// Reports the end of the connection. Returns true if the message is complete at this point.
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

/// "" if absent. `name` must be in lower case, like the names in `headers`.
std::string_view FindHeader(const Headers& headers, std::string_view name);

}  // namespace apimesh::http
