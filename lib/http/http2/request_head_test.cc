#include "lib/http/http2/request_head.h"

#include <gtest/gtest.h>

namespace apimesh::http {
namespace {

using Fields = std::vector<std::pair<std::string_view, std::string_view>>;

constexpr std::pair<std::string_view, std::string_view> kMethod{":method", "GET"}, kScheme{":scheme", "https"},
    kPath{":path", "/a?b"}, kAuthority{":authority", "h:1"};

const Limits& TestLimits() {
  static const Limits limits{.header_bytes = 1000, .header_fields = 10};
  return limits;
}

/// "malformed", the text of the refusal, or "" if the request is served.
std::string OutcomeOf(const Fields& fields) {
  Http2RequestHead head(TestLimits());
  for (const auto& [name, value] : fields) {
    if (!head.Add(name, value)) return "malformed";
  }
  if (!head.End()) return "malformed";
  const std::optional<Refusal> refusal = head.Refused();
  return refusal ? PlainRefusalBody(*refusal).text : "";
}

struct Case {
  const char* name;
  Fields more;
  const char* want;
};
const std::string kLarge(1001, 'x');
const Case kCases[] = {
    {"Plain", {{"accept", "*/*"}}, ""},
    {"Trailers", {{"te", "trailers"}}, ""},
    {"UpperCase", {{"Accept", "*/*"}}, "malformed"},
    {"SpaceInName", {{"a b", "c"}}, "malformed"},
    {"EmptyName", {{"", "c"}}, "malformed"},
    {"LineBreakInValue", {{"a", "b\r\nc: d"}}, "malformed"},
    {"ZeroInValue", {{"a", std::string_view("b\0", 2)}}, "malformed"},
    {"LatePseudoHeader", {{"a", "b"}, {":method", "POST"}}, "malformed"},
    {"SecondPath", {{":path", "/b"}}, "malformed"},
    {"PseudoHeaderOfResponses", {{":status", "200"}}, "malformed"},
    {"TwoHosts", {{"host", "a"}, {"host", "b"}}, "malformed"},
    {"TwoLengths", {{"content-length", "1"}, {"content-length", "2"}}, "malformed"},
    {"LengthThatIsNoNumber", {{"content-length", "+1"}}, "malformed"},
    {"Connection",
     {{"connection", "Upgrade"}, {"upgrade", "websocket"}},
     "400 Bad Request: request header \"Connection\" is not valid in HTTP/2"},
    {"Upgrade", {{"upgrade", "h3"}}, "400 Bad Request: request header \"Upgrade\" is not valid in HTTP/2"},
    {"OtherTe", {{"te", "gzip"}}, "400 Bad Request: request header \"TE\" may only be \"trailers\" in HTTP/2"},
    {"LargeHead", {{"a", kLarge}}, "431 Request Header Fields Too Large"},
    {"ManyFields",
     {{"a", ""}, {"a", ""}, {"a", ""}, {"a", ""}, {"a", ""}, {"a", ""}, {"a", ""}},
     "431 Request Header Fields Too Large"},
};

class Http2Head : public ::testing::TestWithParam<Case> {};

TEST_P(Http2Head, IsChecked) {
  Fields fields{kMethod, kScheme, kPath, kAuthority};
  fields.insert(fields.end(), GetParam().more.begin(), GetParam().more.end());
  EXPECT_EQ(OutcomeOf(fields), GetParam().want);
}
INSTANTIATE_TEST_SUITE_P(Table, Http2Head, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Http2HeadParts, AreRequired) {
  EXPECT_EQ(OutcomeOf({kMethod, kScheme, kPath}), "");
  EXPECT_EQ(OutcomeOf({kScheme, kPath}), "malformed");
  EXPECT_EQ(OutcomeOf({kMethod, kPath}), "malformed");
  EXPECT_EQ(OutcomeOf({kMethod, kScheme}), "malformed");
  EXPECT_EQ(OutcomeOf({{":method", "CONNECT"}, kAuthority}), "400 Bad Request");
  EXPECT_EQ(OutcomeOf({{":method", "CONNECT"}, kAuthority, kPath}), "malformed");
}

TEST(Http2HeadParts, MakeARequest) {
  Http2RequestHead head(TestLimits());
  const Fields fields{
      kMethod, kScheme, kPath, kAuthority, {"host", "other"}, {"content-length", "5"}, {"expect", "100-continue"}};
  for (const auto& [name, value] : fields) EXPECT_TRUE(head.Add(name, value)) << name;
  EXPECT_TRUE(head.End());
  EXPECT_EQ(head.Length(), 5u);
  EXPECT_TRUE(head.ExpectsContinue());
  const Request request = head.Take();
  EXPECT_EQ(request.method, "GET");
  EXPECT_EQ(request.target, "/a?b");
  EXPECT_EQ(request.Header("host"), "h:1");
}

}  // namespace
}  // namespace apimesh::http
