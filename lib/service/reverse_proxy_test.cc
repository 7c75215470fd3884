#include "lib/service/reverse_proxy.h"

#include <gtest/gtest.h>

namespace apimesh::service {
namespace {

std::string Names(const http::Headers& headers) {
  std::string names;
  for (const auto& [name, value] : headers) names += (names.empty() ? "" : " ") + name;
  return names;
}

TEST(PassedOn, HasNoIdentityInAnySpelling) {
  const mesh::Headers headers = {{"accept", "a"},
                                 {"authorization", "Bearer t"},
                                 {"x-remote-user", "u"},
                                 {"x_remote_user", "u"},
                                 {"x-remote_group", "g"},
                                 {"impersonate-user", "u"},
                                 {"impersonate_user", "u"},
                                 {"x-forwarded-client-cert", "c"},
                                 {"x_forwarded_client_cert", "c"},
                                 {"x-envoy-id", "1"},
                                 {"x-apimesh-watch", "follow"},
                                 {"x_apimesh_memory", "m"},
                                 {"cookie", "c"},
                                 {"x_other", "o"}};
  EXPECT_EQ(Names(PassedOn(headers, false)), "accept cookie x_other");
}

TEST(PassedOn, LeavesOutWhatIsOfOneConnection) {
  const mesh::Headers headers = {{"host", "h"},
                                 {"connection", "Upgrade, X-Listed , close"},
                                 {"upgrade", "websocket"},
                                 {"x-listed", "1"},
                                 {"te", "trailers"},
                                 {"keep-alive", "1"},
                                 {"proxy-authorization", "p"},
                                 {"sec-websocket-key", "k"}};
  EXPECT_EQ(Names(PassedOn(headers, false)), "sec-websocket-key");
  EXPECT_EQ(Names(PassedOn(headers, true)), "connection upgrade sec-websocket-key");
}

TEST(CleanAnswer, LeavesOutWhatIsNotTheBackendsToSay) {
  const http::Headers answer = {{"content-type", "text/plain"},
                                {"connection", "x-listed"},
                                {"x-listed", "1"},
                                {"upgrade", "h2c"},
                                {"transfer-encoding", "chunked"},
                                {"strict-transport-security", "max-age=0"},
                                {"access-control-allow-origin", "*"},
                                {"x-apimesh-audit-annotation", "a=b"},
                                {"set-cookie", "c"},
                                {"location", "/x"}};
  http::Headers plain = answer, upgraded = answer;
  CleanAnswer(plain, false);
  EXPECT_EQ(Names(plain), "content-type set-cookie location");
  CleanAnswer(upgraded, true);
  EXPECT_EQ(Names(upgraded), "content-type connection upgrade set-cookie location");
}

TEST(IsRedirect, NeedsALocation) {
  const http::Headers location = {{"location", "https://elsewhere.example"}};
  for (const int code : {300, 301, 302, 303, 307, 308, 399}) {
    EXPECT_TRUE(IsRedirect(code, location)) << code;
    EXPECT_FALSE(IsRedirect(code, {})) << code;
    EXPECT_FALSE(IsRedirect(code, {{"location", ""}})) << code;
  }
  for (const int code : {200, 201, 400, 502}) EXPECT_FALSE(IsRedirect(code, location)) << code;
}

}  // namespace
}  // namespace apimesh::service
