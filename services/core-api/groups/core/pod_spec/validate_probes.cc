#include <algorithm>

#include <fmt/format.h>

#include "services/core-api/groups/core/pod_spec/validation.h"

namespace apimesh::core_api {
namespace {

void ValidateExec(const Check& exec, std::optional<std::int64_t>) {
  const meta::json::value* command = meta::FindField(exec.Object(), "command");
  if (!command || !command->is_array() || command->get_array().empty())
    exec.Add(meta::Required(exec.Path().Child("command").ToString(), ""));
}

void ValidateHttpGet(const Check& get, std::optional<std::int64_t>) {
  get.Require("path");
  ValidatePortOrName(get, "port");
  get.OneOf("scheme", {"HTTP", "HTTPS"});
  for (const Check& header : get.Each("httpHeaders")) {
    const std::string_view name = header.Text("name");
    const auto allowed = [](unsigned char c) { return std::isalnum(c) || c == '-'; };
    if (!name.empty() && std::all_of(name.begin(), name.end(), allowed)) continue;
    header.Add(meta::Invalid(get.Path().Child("httpHeaders").ToString(), meta::Quoted(name),
                             meta::PatternText("a valid HTTP header must consist of alphanumeric characters or '-'",
                                               "[-A-Za-z0-9]+", {"X-Header-Name"})));
  }
}

void ValidateTcp(const Check& tcp, std::optional<std::int64_t>) { ValidatePortOrName(tcp, "port"); }

void ValidateSleep(const Check& sleep, std::optional<std::int64_t> grace_period) {
  const std::int64_t seconds = sleep.Number("seconds").value_or(0);
  if (!grace_period || seconds < 0 || seconds > *grace_period) {
    sleep.Add(meta::Invalid(sleep.Path().ToString(), fmt::format("{}", seconds),
                            fmt::format("must be non-negative and less than terminationGracePeriodSeconds ({})",
                                        grace_period.value_or(0))));
  }
}

/// Checks that exactly one of the actions is given.
void ValidateHandler(const Check& handler, std::optional<std::int64_t> grace_period) {
  struct Way {
    const char* field;
    void (*validate)(const Check&, std::optional<std::int64_t>);
  };
  static constexpr Way kWays[] = {{"exec", &ValidateExec},
                                  {"httpGet", &ValidateHttpGet},
                                  {"tcpSocket", &ValidateTcp},
                                  {"grpc", &ValidateTcp},
                                  {"sleep", &ValidateSleep}};
  bool found = false;
  for (const Way& way : kWays) {
    const std::optional<Check> action = handler.Child(way.field);
    if (!action) continue;
    if (found) {
      handler.Forbid(way.field, "may not specify more than 1 handler type");
    } else {
      way.validate(*action, grace_period);
    }
    found = true;
  }
  if (!found) handler.Add(meta::Required(handler.Path().ToString(), "must specify a handler type"));
}

void ValidateProbe(const Check& probe, std::optional<std::int64_t> grace_period) {
  ValidateHandler(probe, grace_period);
  for (const char* field :
       {"initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"})
    probe.NonNegative(field);
  if (const auto seconds = probe.Number("terminationGracePeriodSeconds"); seconds && *seconds <= 0) {
    probe.Invalid("terminationGracePeriodSeconds", "must be greater than 0");
  }
}

void SuccessMustBeOne(const Check& probe) {
  if (probe.Number("successThreshold").value_or(1) != 1) probe.Invalid("successThreshold", "must be 1");
}

}  // namespace

void ValidatePortOrName(const Check& holder, std::string_view field) {
  const meta::json::value* port = meta::FindField(holder.Object(), field);
  if (port && port->is_string()) {
    for (std::string& complaint : meta::CheckPortName(port->get_string())) holder.Invalid(field, std::move(complaint));
    return;
  }
  const std::int64_t number = holder.Number(field).value_or(0);
  for (std::string& complaint : meta::CheckPortNumber(number)) {
    holder.Add(meta::Invalid(holder.Path().Child(field).ToString(), fmt::format("{}", number), std::move(complaint)));
  }
}

void ValidateLifecycle(const Check& container, std::optional<std::int64_t> grace_period) {
  const std::optional<Check> lifecycle = container.Child("lifecycle");
  if (!lifecycle) return;
  for (const char* hook : {"postStart", "preStop"}) {
    if (const std::optional<Check> handler = lifecycle->Child(hook)) ValidateHandler(*handler, grace_period);
  }
}

void ValidateProbes(const Check& container, std::optional<std::int64_t> grace_period) {
  if (const std::optional<Check> probe = container.Child("livenessProbe")) {
    ValidateProbe(*probe, grace_period);
    SuccessMustBeOne(*probe);
  }
  if (const std::optional<Check> probe = container.Child("readinessProbe")) {
    ValidateProbe(*probe, grace_period);
    if (probe->Has("terminationGracePeriodSeconds"))
      probe->Invalid("terminationGracePeriodSeconds", "must not be set for readinessProbes");
  }
  if (const std::optional<Check> probe = container.Child("startupProbe")) {
    ValidateProbe(*probe, grace_period);
    SuccessMustBeOne(*probe);
  }
}

}  // namespace apimesh::core_api
