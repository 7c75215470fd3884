#include "services/authn-authz/authenticators/bearer/bearer.h"

#include <gtest/gtest.h>

#include "services/authn-authz/authenticators/tokenfile/tokenfile.h"
#include "services/authn-authz/testing/fakes.h"

namespace apimesh::authn_authz {
namespace {

using fake::Await;
using fake::Headers;
using fake::Show;

std::unique_ptr<TokenAuthenticator> File(std::string_view csv) { return std::move(NewTokenFile(csv, "f").value()); }

TEST(Bearer, ReadsTheHeaderAsTheReferenceDoes) {
  const auto ask = [](std::string header) {
    return Show(
        Await(NewBearer(File("secret,alice,u"))->Authenticate(Headers({{"authorization", std::move(header)}}))));
  };
  EXPECT_EQ(ask("Bearer secret"), "user: alice");
  EXPECT_EQ(ask("  bEaReR secret ignored"), "user: alice");
  EXPECT_EQ(ask("Bearer wrong"), "bad: invalid bearer token");
  EXPECT_EQ(ask("Bearer  secret"), "not mine");
  EXPECT_EQ(ask("Bearer"), "not mine");
  EXPECT_EQ(ask("Basic secret"), "not mine");
  EXPECT_EQ(ask(""), "not mine");
}

TEST(WebSocketBearer, NeedsAnotherProtocolAndGoodEncoding) {
  const auto ask = [](std::string protocols) {
    return Show(Await(NewWebSocketBearer(File("secret,alice,u"))
                          ->Authenticate(Headers({{"upgrade", "websocket"},
                                                  {"connection", "keep-alive, Upgrade"},
                                                  {"sec-websocket-protocol", std::move(protocols)}}))));
  };
  const std::string token = "base64url.bearer.authorization.k8s.io.c2VjcmV0";
  EXPECT_EQ(ask(token + ", v4.channel.k8s.io"), "user: alice");
  EXPECT_EQ(ask(token), "bad: missing additional subprotocol");
  EXPECT_EQ(ask("a," + token + "," + token), "bad: multiple base64.bearer.authorization tokens specified");
  EXPECT_EQ(ask("a,base64url.bearer.authorization.k8s.io.c2V$"),
            "bad: invalid base64.bearer.authorization token encoding");
  EXPECT_EQ(ask("a"), "not mine");
}

}  // namespace
}  // namespace apimesh::authn_authz
