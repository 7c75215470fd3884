#include "services/core-api/connect/websocket/command_status.h"

#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "lib/meta/errors/api_error.h"
#include "lib/meta/object.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

constexpr std::string_view kNonZeroExitCode = "NonZeroExitCode", kExitCode = "ExitCode";

std::string SucceededCommand() { return R"({"metadata":{},"status":"Success"})"; }

std::string ExitedCommand(int code) {
  json::object status;
  status["metadata"].emplace_object();
  status["status"] = "Failure";
  status["message"] =
      fmt::format("command terminated with non-zero exit code: command terminated with exit code {}", code);
  status["reason"] = kNonZeroExitCode;
  json::object& cause =
      status["details"].emplace_object()["causes"].emplace_array().emplace_back(json::object()).get_object();
  cause["reason"] = kExitCode;
  cause["message"] = std::to_string(code);
  return json::serialize(status);
}

std::string BrokenReport(std::string_view why) {
  return FailedCommand(fmt::format("error stream protocol error: {}", why));
}

/// The status of a report that says NonZeroExitCode.
std::string WithExitCode(const json::object& report) {
  const json::value* causes = meta::Find(report, "details", "causes");
  if (!report.contains("details")) return BrokenReport("details must be set");
  if (causes && causes->is_array()) {
    for (const json::value& cause : causes->get_array()) {
      if (!cause.is_object() || meta::FindString(cause.get_object(), "reason") != kExitCode) continue;
      const std::string_view text = meta::FindString(cause.get_object(), "message");
      unsigned char code = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), code);
      if (error != std::errc() || end != text.data() + text.size())
        return BrokenReport(fmt::format("invalid exit code value \"{}\"", text));
      return ExitedCommand(code);
    }
  }
  return BrokenReport(fmt::format("no {} cause given", kExitCode));
}

std::string FromStatus(std::string_view text) {
  boost::system::error_code error;
  const json::value parsed = json::parse(text, error);
  if (error || !parsed.is_object())
    return BrokenReport(fmt::format("{} in \"{}\"", error ? error.message() : "not an object", text));
  const json::object& report = parsed.get_object();
  const std::string_view status = meta::FindString(report, "status");
  if (status == "Success") return SucceededCommand();
  if (status != "Failure") return BrokenReport("unknown error");
  if (meta::FindString(report, "reason") == kNonZeroExitCode) return WithExitCode(report);
  return FailedCommand(meta::FindString(report, "message"));
}

}  // namespace

std::string FailedCommand(std::string_view message) {
  json::object status = meta::InternalError(message).ToStatus();
  status.stable_erase("kind");  // kube-apiserver omits the type here
  status.stable_erase("apiVersion");
  return json::serialize(status);
}

std::string EndedCommand(std::string_view protocol, std::string_view report) {
  if (report.empty()) return SucceededCommand();
  const bool has_status = protocol == "v4.channel.k8s.io" || protocol == "v5.channel.k8s.io";
  return has_status ? FromStatus(report) : FailedCommand(fmt::format("error executing remote command: {}", report));
}

}  // namespace apimesh::core_api
