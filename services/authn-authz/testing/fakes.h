#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include "lib/base/clock.h"
#include "services/authn-authz/authenticators/authenticator.h"
#include "services/authn-authz/state/token_objects.h"

namespace apimesh::authn_authz::fake {

/// Runs a coroutine to its end on the calling thread.
template <class T>
T Await(Task<T> task) {
  boost::asio::io_context io;
  std::future<T> result = boost::asio::co_spawn(io, std::move(task), boost::asio::use_future);
  io.run();
  return result.get();
}

class ManualClock final : public Clock {
 public:
  WallTime Now() const override { return wall; }
  SteadyTime Steady() const override { return steady; }
  void Advance(Duration by) {
    wall += std::chrono::duration_cast<WallTime::duration>(by);
    steady += by;
  }
  WallTime wall = WallTime(std::chrono::seconds(1'800'000'000));
  SteadyTime steady = SteadyTime(std::chrono::hours(1));
};

class FakeTokenObjects final : public TokenObjects {
 public:
  Task<meta::Result<TokenObject>> Get(TokenObjectKind kind, std::string ns, std::string name) override {
    if (auto object = GetCached(kind, ns, name)) co_return std::move(*object);
    co_return meta::NotFound(meta::GroupResource{"", "objects"}, name);
  }
  std::optional<TokenObject> GetCached(TokenObjectKind kind, const std::string& ns, const std::string& name) const override {
    const auto it = objects.find({static_cast<int>(kind), ns, name});
    return it == objects.end() ? std::nullopt : std::optional(it->second);
  }
  void NoteUse(const std::string& uid) override { used.push_back(uid); }
  void Put(TokenObjectKind kind, const std::string& ns, const std::string& name, TokenObject object) {
    objects[{static_cast<int>(kind), ns, name}] = std::move(object);
  }

  std::map<std::tuple<int, std::string, std::string>, TokenObject> objects;
  std::vector<std::string> used;
};

inline TokenQuestionPtr Token(std::string token, std::vector<std::string> audiences = {}) {
  return std::make_shared<const TokenQuestion>(TokenQuestion{std::move(token), std::move(audiences)});
}

inline CredentialsPtr Headers(std::vector<std::pair<std::string, std::string>> headers) {
  auto credentials = std::make_shared<Credentials>();
  credentials->headers = std::move(headers);
  return credentials;
}

/// "user: name", "not mine" or "bad: why".
inline std::string Show(const Answer& answer) {
  if (!answer) return "bad: " + answer.error().Message();
  return *answer ? "user: " + (*answer)->user.name : "not mine";
}

}  // namespace apimesh::authn_authz::fake
