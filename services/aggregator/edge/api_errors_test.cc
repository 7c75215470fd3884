#include "services/aggregator/edge/api_errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace apimesh::aggregator {
namespace {

using Cause = http::Refusal::Cause;

struct Case {
  const char* name;
  http::Refusal refusal;
  const char* content_type;
  const char* text;  // part of the response
};

const Case kCases[] = {
    {"MalformedIsPlainText", {Cause::kMalformed}, "text/plain; charset=utf-8", "400 Bad Request"},
    {"HeadTooLargeIsPlainText",
     {Cause::kHeadTooLarge},
     "text/plain; charset=utf-8",
     "431 Request Header Fields Too Large"},
    {"UnknownTransferEncodingIsPlainText",
     {Cause::kTransferEncoding, "unsupported transfer encoding"},
     "text/plain; charset=utf-8",
     "501 Not Implemented: unsupported transfer encoding"},
    {"BodyTooLarge",
     {Cause::kBodyTooLarge, "limit is 3145728"},
     "application/json",
     "Request entity too large: limit is 3145728"},
    {"NoMemory", {Cause::kNoMemory}, "application/json", R"("retryAfterSeconds":1)"},
    {"BodyTimedOut", {Cause::kBodyTimedOut}, "application/json", R"("reason":"Timeout")"},
    {"BodyBroken",
     {Cause::kBodyBroken, "unexpected EOF"},
     "application/json",
     "error reading the request body: unexpected EOF"},
    {"NotAnswered", {Cause::kNotAnswered}, "application/json", R"("reason":"InternalError")"},
};

class StatusBodyTest : public ::testing::TestWithParam<Case> {};

TEST_P(StatusBodyTest, HasTheCodeOfTheRefusal) {
  const Case& test = GetParam();
  const http::RefusalBody body = StatusBody(test.refusal);
  EXPECT_EQ(body.content_type, test.content_type);
  EXPECT_THAT(body.text, ::testing::HasSubstr(test.text));
  if (body.content_type != "application/json") return;
  EXPECT_THAT(body.text, ::testing::HasSubstr("\"code\":" + std::to_string(test.refusal.Code())));
  EXPECT_EQ(ApiErrorOf(test.refusal).Code(), test.refusal.Code());
}
INSTANTIATE_TEST_SUITE_P(Table, StatusBodyTest, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace apimesh::aggregator
