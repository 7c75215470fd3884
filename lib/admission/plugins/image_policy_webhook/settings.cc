#include "lib/admission/plugins/image_policy_webhook/settings.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "lib/admission/fields.h"
#include "lib/codec/codec.h"

namespace apimesh::admission::image_policy {
namespace {

/// Writes a duration like Go: "1ns", "1.5s", "30m0s".
std::string GoText(Duration duration) {
  const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
  if (nanoseconds < 0) return "-" + GoText(-duration);
  if (nanoseconds < 1000) return fmt::format("{}ns", nanoseconds);
  if (nanoseconds < 1'000'000'000) return fmt::format("{:g}ms", static_cast<double>(nanoseconds) / 1e6);
  const auto minutes = nanoseconds / 60'000'000'000;
  const std::string seconds = fmt::format("{:g}s", static_cast<double>(nanoseconds % 60'000'000'000) / 1e9);
  if (minutes < 60) return minutes == 0 ? seconds : fmt::format("{}m{}", minutes, seconds);
  return fmt::format("{}h{}m{}", minutes / 60, minutes % 60, seconds);
}

/// A number of `scale` units: 0 is the default, -1 is none.
Duration ReadDuration(const json::object& settings, std::string_view field, Duration scale, Duration lowest,
                      Duration highest, Duration otherwise) {
  const std::int64_t value = NumberAt(settings, field).value_or(0);
  if (value == -1) return {};
  if (value == 0) return otherwise;
  constexpr std::int64_t kMost = 1'000'000'000;  // far above the highest, and not too large to multiply
  const Duration duration = scale * std::clamp<std::int64_t>(value, -kMost, kMost);
  if (duration < lowest || duration > highest) {
    throw std::invalid_argument(
        fmt::format("valid value is between {} and {}, got {}", GoText(lowest), GoText(highest), GoText(duration)));
  }
  return duration;
}

}  // namespace

Settings ReadSettings(const std::optional<std::string>& section) {
  if (!section) throw std::invalid_argument("no config specified");
  const meta::Result<json::value> parsed = codec::ParseYaml(*section, {});
  if (!parsed) throw std::invalid_argument(parsed.error().Message());
  if (!parsed->is_object()) throw std::invalid_argument("the configuration is not an object");
  const json::object& fields = ObjectAt(parsed->get_object(), "imagePolicy");
  using std::chrono::minutes;
  using std::chrono::seconds;
  Settings settings;
  settings.retry_backoff = ReadDuration(fields, "retryBackoff", std::chrono::milliseconds(1), Duration(1), minutes(5),
                                        settings.retry_backoff);
  settings.allow_ttl = ReadDuration(fields, "allowTTL", seconds(1), seconds(1), minutes(30), settings.allow_ttl);
  settings.deny_ttl = ReadDuration(fields, "denyTTL", seconds(1), seconds(1), minutes(30), settings.deny_ttl);
  settings.kubeconfig = meta::FindString(fields, "kubeConfigFile");
  settings.default_allow = BoolAt(fields, "defaultAllow").value_or(false);
  return settings;
}

}  // namespace apimesh::admission::image_policy
