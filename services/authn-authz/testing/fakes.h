#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include "lib/testing/manual_clock.h"
#include "services/authn-authz/authenticators/authenticator.h"
#include "services/authn-authz/state/token_objects.h"

namespace apimesh::authn_authz::fake {

/// Runs a coroutine to completion on the calling thread.
template <class T>
T Await(Task<T> task) {
  boost::asio::io_context io;
  std::future<T> result = boost::asio::co_spawn(io, std::move(task), boost::asio::use_future);
  io.run();
  return result.get();
}

using apimesh::testing::ManualClock;

class FakeTokenObjects final : public TokenObjects {
 public:
  Task<meta::Result<TokenObject>> Get(TokenObjectKind kind, std::string ns, std::string name) override {
    if (auto object = GetCached(kind, ns, name)) co_return std::move(*object);
    co_return meta::NotFound(meta::GroupResource{"", "objects"}, name);
  }
  std::optional<TokenObject> GetCached(TokenObjectKind kind, const std::string& ns,
                                       const std::string& name) const override {
    const auto it = objects.find({static_cast<int>(kind), ns, name});
    return it == objects.end() ? std::nullopt : std::optional(it->second);
  }
  void NoteUse(const std::string& uid) override { used.push_back(uid); }
  void NoteLegacyToken(const std::string& ns, const std::string& name, const TokenObject&) override {
    legacy_tokens.push_back(ns + "/" + name);
  }
  void Put(TokenObjectKind kind, const std::string& ns, const std::string& name, TokenObject object) {
    objects[{static_cast<int>(kind), ns, name}] = std::move(object);
  }

  std::map<std::tuple<int, std::string, std::string>, TokenObject> objects;
  std::vector<std::string> used;
  std::vector<std::string> legacy_tokens;
};

inline TokenQuestionPtr Token(std::string token, std::vector<std::string> audiences = {}) {
  return std::make_shared<const TokenQuestion>(TokenQuestion{std::move(token), std::move(audiences)});
}

inline CredentialsPtr Headers(std::vector<std::pair<std::string, std::string>> headers) {
  auto credentials = std::make_shared<Credentials>();
  credentials->headers = std::move(headers);
  return credentials;
}

/// Returns "user: name", "not mine" or "bad: why".
inline std::string Show(const AuthenticationResult& answer) {
  if (!answer) return "bad: " + answer.error().Message();
  return *answer ? "user: " + (*answer)->user.name : "not mine";
}

}  // namespace apimesh::authn_authz::fake
