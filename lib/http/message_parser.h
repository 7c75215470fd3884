#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "lib/http/server.h"

namespace apimesh::http {

/// Why a message was refused; becomes the status code of the answer.
enum class ParseFailure { kNone, kBadMessage, kHeadersTooLarge, kBodyTooLarge, kTransferEncoding };

/// Reads one request from bytes as they come. No I/O, so that it can be fuzzed. Refuses whatever could be read in two
/// ways (both a length and chunks, two hosts, unknown transfer encodings): that is request smuggling.
class RequestParser {
 public:
  explicit RequestParser(const Limits& limits);
  ~RequestParser();

  /// Returns how many bytes were used. What is left over must be given again, with more behind it, unless Done().
  std::size_t Feed(std::string_view data);
  bool HeadDone() const;
  bool Done() const;
  ParseFailure Failure() const;
  /// After HeadDone().
  bool KeepAlive() const;
  bool IsHttp10() const;
  bool ExpectsContinue() const;
  /// After Done().
  Request TakeRequest();

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
