#pragma once

#include <string>

#include "lib/http/body_budget.h"
#include "lib/http/message_parser.h"
#include "lib/http/server.h"

namespace apimesh::http {

class Connection;

/// The body of a connection's current request. Nothing of it is read before Read(), except for what came with the head.
class RequestBody {
 public:
  /// `parser` has read the head.
  RequestBody(Connection& connection, RequestParser& parser) : connection_(connection), parser_(parser), unread_(!parser.Done()) {}

  /// See ResponseWriter.
  bool Unread() const { return unread_; }
  bool Arrived();
  Task<meta::Result<std::string>> Read(BodyTerms terms);

  /// Whether the connection can serve another request after this one: the rest of the body is short, or here already.
  /// From here on the body is only skipped.
  bool CanSkip();
  bool Done() const { return parser_.Done(); }
  /// Reads the rest of a body that is not Done() away. False: the connection must be closed.
  Task<bool> Skip();

 private:
  Task<bool> SendContinue();

  Connection& connection_;
  RequestParser& parser_;
  BodyLease lease_;  // until the request has been answered
  bool unread_;
  bool asked_for_ = false;
  bool continued_ = false;
  bool skipping_ = false;
};

/// What ReadBody() returns for a body that is larger than `limits` allow.
meta::ApiError BodyTooLarge(const Limits& limits);
/// For a body for which there is no memory.
meta::ApiError NoRoomForBody();
/// For a body that did not come in time.
meta::ApiError BodyTimedOut();
/// For a body that is malformed or ended early.
meta::ApiError BodyBroken(std::string_view why);

}  // namespace apimesh::http
