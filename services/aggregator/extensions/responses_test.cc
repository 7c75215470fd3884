#include "services/aggregator/extensions/responses.h"

#include <gtest/gtest.h>

namespace apimesh::aggregator {
namespace {

TEST(CheckHead, HasDefaults) {
  int code = 0;
  mesh::Headers headers;
  EXPECT_FALSE(CheckHead(code, headers));
  EXPECT_EQ(code, 200);
  EXPECT_EQ(headers, (mesh::Headers{{"content-type", "application/json"}}));
}

TEST(CheckHead, KeepsOnlyHeadersOfTheBody) {
  int code = 409;
  mesh::Headers headers = {{"Content-Type", "text/plain"},
                           {"Set-Cookie", "a=b"},
                           {"x-apimesh-audit-annotation", "a=b"},
                           {"access-control-allow-origin", "*"},
                           {"strict-transport-security", "x"},
                           {"Retry-After", "3"},
                           {"connection", "upgrade"},
                           {"content-length", "7"},
                           {"transfer-encoding", "chunked"}};
  EXPECT_FALSE(CheckHead(code, headers));
  EXPECT_EQ(code, 409);
  EXPECT_EQ(headers, (mesh::Headers{{"content-type", "text/plain"}, {"retry-after", "3"}}));
}

TEST(CheckHead, RefusesWhatAnExtensionMustNotSend) {
  struct Case {
    int code;
    mesh::Headers headers;
  };
  const Case cases[] = {{101, {}},
                        {100, {}},
                        {-1, {}},
                        {600, {}},
                        {302, {{"Location", "https://example.com"}}},
                        {200, {{"content-type", "a\r\nset-cookie: b"}}},
                        {200, {{"warning", std::string(5000, 'x')}}},
                        {200, mesh::Headers(100, {"warning", "x"})}};
  for (const Case& one : cases) {
    int code = one.code;
    mesh::Headers headers = one.headers;
    const std::optional<mesh::Response> refusal = CheckHead(code, headers);
    ASSERT_TRUE(refusal) << one.code;
    EXPECT_EQ(refusal->code, 502);
  }
}

}  // namespace
}  // namespace apimesh::aggregator
