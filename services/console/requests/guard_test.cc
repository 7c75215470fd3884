#include "services/console/requests/guard.h"

#include <gtest/gtest.h>

namespace apimesh::console {
namespace {

http::Request With(http::Headers headers) {
  http::Request request;
  request.method = "GET";
  request.target = "/";
  request.headers = std::move(headers);
  return request;
}

const Guard kGuard({"127.0.0.1", "localhost", "::1", "Console.Example"}, 6480, false);

TEST(Guard, AcceptsItsOwnNamesWithItsPort) {
  for (const char* host : {"127.0.0.1:6480", "localhost:6480", "LOCALHOST:6480", "[::1]:6480", "console.example:6480"})
    EXPECT_TRUE(kGuard.NamesThisConsole(With({{"host", host}}))) << host;
}

TEST(Guard, RefusesOtherNames) {
  for (const char* host : {"", "evil.example:6480", "127.0.0.1", "127.0.0.1:6481", "localhost:6480.evil.example",
                           "localhost", "127.0.0.1:6480@evil.example", "::1:6480"})
    EXPECT_FALSE(kGuard.NamesThisConsole(With({{"host", host}}))) << host;
  EXPECT_FALSE(kGuard.NamesThisConsole(With({})));
  EXPECT_FALSE(kGuard.NamesThisConsole(With({{"host", "localhost:6480"}, {"host", "localhost:6480"}})));
}

TEST(Guard, UsualPortsMayBeAbsent) {
  const Guard secure({"console.example"}, 443, true);
  EXPECT_TRUE(secure.NamesThisConsole(With({{"host", "console.example"}})));
  EXPECT_FALSE(secure.ForeignOrigin(With({{"host", "console.example"}, {"origin", "https://console.example"}})));
  EXPECT_TRUE(secure.ForeignOrigin(With({{"host", "console.example"}, {"origin", "http://console.example"}})));
}

TEST(Guard, RefusesForeignOrigins) {
  const auto refused = [](const char* header, const char* value) {
    return kGuard.ForeignOrigin(With({{"host", "localhost:6480"}, {header, value}})).has_value();
  };
  EXPECT_FALSE(refused("accept", "*/*"));
  EXPECT_FALSE(refused("origin", "http://localhost:6480"));
  EXPECT_FALSE(refused("sec-fetch-site", "same-origin"));
  for (const char* origin : {"http://evil.example", "null", "https://localhost:6480", "http://localhost:6481",
                             "http://127.0.0.1:6480", "", "http://localhost:6480.evil.example"})
    EXPECT_TRUE(refused("origin", origin)) << origin;
  for (const char* site : {"cross-site", "same-site", "none", ""}) EXPECT_TRUE(refused("sec-fetch-site", site)) << site;
}

TEST(Cookies, AreReadOnlyIfTheyAreUnambiguous) {
  EXPECT_EQ(CookieOf(With({{"cookie", "a=1; session=x; b=2"}}), "session"), "x");
  EXPECT_EQ(CookieOf(With({{"cookie", "mysession=x"}}), "session"), "");
  EXPECT_EQ(CookieOf(With({{"cookie", "session-other=x"}}), "session"), "");
  EXPECT_EQ(CookieOf(With({{"cookie", "session=x; session=y"}}), "session"), "");
  EXPECT_EQ(CookieOf(With({{"cookie", "session=x"}, {"cookie", "session=y"}}), "session"), "");
  EXPECT_EQ(CookieOf(With({}), "session"), "");
}

}  // namespace
}  // namespace apimesh::console
