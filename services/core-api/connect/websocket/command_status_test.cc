#include "services/core-api/connect/websocket/command_status.h"

#include <gtest/gtest.h>

namespace apimesh::core_api {
namespace {

std::string Failed(const std::string& message) {
  return R"({"metadata":{},"status":"Failure","message":"Internal error occurred: )" + message +
         R"(","reason":"InternalError","details":{"causes":[{"message":")" + message + R"("}]},"code":500})";
}

struct Case {
  const char* name;
  const char* protocol;
  const char* report;
  std::string want;
};
const Case kCases[] = {
    {"Nothing", "v4.channel.k8s.io", "", R"({"metadata":{},"status":"Success"})"},
    {"Success", "v5.channel.k8s.io", R"({"status":"Success"})", R"({"metadata":{},"status":"Success"})"},
    {"ExitCode", "v4.channel.k8s.io",
     R"({"status":"Failure","reason":"NonZeroExitCode","details":{"causes":[{"reason":"x"},{"reason":"ExitCode","message":"7"}]}})",
     R"({"metadata":{},"status":"Failure","message":"command terminated with non-zero exit code: command terminated with exit code 7","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"7"}]}})"},
    {"LargeExitCode", "v4.channel.k8s.io",
     R"({"status":"Failure","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"256"}]}})",
     Failed(R"(error stream protocol error: invalid exit code value \"256\")")},
    {"NoDetails", "v4.channel.k8s.io", R"({"status":"Failure","reason":"NonZeroExitCode"})",
     Failed("error stream protocol error: details must be set")},
    {"NoCause", "v4.channel.k8s.io", R"({"status":"Failure","reason":"NonZeroExitCode","details":{}})",
     Failed("error stream protocol error: no ExitCode cause given")},
    {"OtherFailure", "v4.channel.k8s.io", R"({"status":"Failure","message":"no such container"})",
     Failed("no such container")},
    {"UnknownStatus", "v4.channel.k8s.io", R"({"status":"Maybe"})",
     Failed("error stream protocol error: unknown error")},
    {"NoObject", "v4.channel.k8s.io", "[]", Failed(R"(error stream protocol error: not an object in \"[]\")")},
    {"OldProtocol", "v3.channel.k8s.io", "it failed", Failed("error executing remote command: it failed")},
};
class CommandStatus : public ::testing::TestWithParam<Case> {};

TEST_P(CommandStatus, IsWhatTheClientGets) {
  EXPECT_EQ(EndedCommand(GetParam().protocol, GetParam().report), GetParam().want);
}
INSTANTIATE_TEST_SUITE_P(Table, CommandStatus, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace apimesh::core_api
