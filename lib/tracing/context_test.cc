#include "lib/tracing/context.h"

#include <gtest/gtest.h>

namespace apimesh::tracing {
namespace {

constexpr std::string_view kTrace = "0af7651916cd43dd8448eb211c80319c", kSpan = "b7ad6b7169203331";

std::string Header(std::string_view version, std::string_view trace, std::string_view span, std::string_view flags) {
  return std::string(version) + "-" + std::string(trace) + "-" + std::string(span) + "-" + std::string(flags);
}

TEST(ParseContext, ReadsWhatIsWritten) {
  for (const std::string_view flags : {"00", "01"}) {
    const std::string header = Header("00", kTrace, kSpan, flags);
    const SpanContext context = ParseContext(header, "a=1,b@c=2");
    ASSERT_TRUE(context.Valid()) << header;
    EXPECT_EQ(context.sampled, flags == "01");
    EXPECT_EQ(TraceParentOf(context), header);
    EXPECT_EQ(context.state, "a=1,b@c=2");
  }
}

TEST(ParseContext, RefusesWhatTheSpecificationForbids) {
  const std::string zero_trace(32, '0'), zero_span(16, '0');
  const std::string cases[] = {
      "",
      "00",
      Header("ff", kTrace, kSpan, "01"),
      Header("00", zero_trace, kSpan, "01"),
      Header("00", kTrace, zero_span, "01"),
      Header("00", kTrace, kSpan, "03"),  // only the first flag, or the second one alone, exist in this version
      Header("00", kTrace, kSpan, "1"),
      Header("00", kTrace, kSpan, "01-more"),
      Header("00", kTrace, kSpan, "01-"),
      Header("00", "0AF7651916CD43DD8448EB211C80319C", kSpan, "01"),
      Header("00", "0af7651916cd43dd8448eb211c80319", kSpan, "01"),
      Header("00", kTrace, "b7ad6b716920333x", "01"),
      " " + Header("00", kTrace, kSpan, "01"),
  };
  for (const std::string& header : cases) EXPECT_FALSE(ParseContext(header, "").Valid()) << header;
}

TEST(ParseContext, AcceptsANewerVersionWithMore) {
  const SpanContext context = ParseContext(Header("01", kTrace, kSpan, "0b") + "-more", "");
  ASSERT_TRUE(context.Valid());
  EXPECT_TRUE(context.sampled);
  EXPECT_EQ(TraceParentOf(context), Header("00", kTrace, kSpan, "01"));
}

TEST(ParseContext, ABadTracestateCountsAsEmpty) {
  const struct {
    std::string given, expected;
  } cases[] = {
      {" a=1 ,, b=2", "a=1,b=2"},
      {"a", ""},
      {"a=", ""},
      {"A=1", ""},
      {"a=1,a=2", ""},
      {"a=1=2", ""},
      {"a=\x01", ""},
      {"@b=1", ""},
      {"a@1=1", ""},
      {"1a=x y", "1a=x y"},
      {std::string(257, 'a') + "=1", ""},
      {"a=" + std::string(257, 'v'), ""},
  };
  for (const auto& c : cases) {
    const SpanContext context = ParseContext(Header("00", kTrace, kSpan, "01"), c.given);
    EXPECT_TRUE(context.Valid()) << c.given;
    EXPECT_EQ(context.state, c.expected) << c.given;
  }
}

TEST(ParseContext, AllowsThirtyTwoMembers) {
  std::string state = "k0=v";
  for (int i = 1; i < 32; ++i) state += ",k" + std::to_string(i) + "=v";
  EXPECT_EQ(ParseContext(Header("00", kTrace, kSpan, "01"), state).state, state);
  EXPECT_EQ(ParseContext(Header("00", kTrace, kSpan, "01"), state + ",more=v").state, "");
}

TEST(NewIds, Differ) {
  EXPECT_NE(NewTraceId(), NewTraceId());
  EXPECT_NE(NewSpanId(), NewSpanId());
}

}  // namespace
}  // namespace apimesh::tracing
