#pragma once

#include <string>

#include "lib/http/body_budget.h"
#include "lib/http/message_parser.h"
#include "lib/http/server.h"

namespace apimesh::http {

class Connection;

/// The body of a connection's current request. None of it is read before Read(), except for the bytes that were
/// received with the head.
class RequestBody {
 public:
  /// `parser` must have read the head.
  RequestBody(Connection& connection, RequestParser& parser)
      : connection_(connection), parser_(parser), unread_(!parser.Done()) {}

  /// See ResponseWriter.
  bool Unread() const { return unread_; }
  bool Arrived();
  Task<BodyResult> Read(BodyTerms terms);

  /// Whether the connection can serve another request after this one: the rest of the body is short or was already
  /// received. After this call, the body can only be skipped.
  bool CanSkip();
  bool Done() const { return parser_.Done(); }
  /// Reads and discards the rest of a body that is not Done(). Returns false if the connection must be closed.
  Task<bool> Skip();

 private:
  Task<bool> SendContinue();

  Connection& connection_;
  RequestParser& parser_;
  BodyLease lease_;  // held until the request is answered
  bool unread_;
  bool asked_for_ = false;
  bool continued_ = false;
  bool skipping_ = false;
};

/// The refusal of a body that is larger than `limits` allow.
Refusal BodyTooLarge(const Limits& limits);
/// The refusal of a body that is malformed or ended early.
Refusal BodyBroken(std::string_view why);

}  // namespace apimesh::http
