#include <fmt/format.h>

#include "services/core-api/groups/autoscaling/horizontalpodautoscaler/validation.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

constexpr std::size_t kShownMetrics = 2;
constexpr const char* kUnknown = "<unknown>";

std::string_view TextOr(std::string_view text, std::string_view otherwise) { return text.empty() ? otherwise : text; }

std::string Percentage(const json::value* number, std::string_view otherwise) {
  return number && number->is_int64() ? fmt::format("{}%", number->get_int64()) : std::string(otherwise);
}

/// Formats a metric with a resource: a quantity or a percentage.
std::string ResourceText(const json::object& source, const json::object* status) {
  const std::string_view name = meta::FindString(source, "name");
  const std::string_view wanted = meta::FindString(source, "target", "averageValue");
  if (!wanted.empty()) {
    const std::string_view current =
        status ? TextOr(meta::FindString(*status, "current", "averageValue"), "0") : kUnknown;
    return fmt::format("{}: {}/{}", name, current, wanted);
  }
  return fmt::format("{}: {}/{}", name,
                     Percentage(status ? meta::Find(*status, "current", "averageUtilization") : nullptr, kUnknown),
                     Percentage(meta::Find(source, "target", "averageUtilization"), "<auto>"));
}

std::string MetricText(const json::object& metric, const json::object* status) {
  const std::string_view type = meta::FindString(metric, "type");
  const char* field = type == "External"            ? "external"
                      : type == "Pods"              ? "pods"
                      : type == "Object"            ? "object"
                      : type == "Resource"          ? "resource"
                      : type == "ContainerResource" ? "containerResource"
                                                    : nullptr;
  if (!field) return "<unknown type>";
  static const json::object empty;
  const auto child = [field](const json::object* of) {
    const json::value* found = of ? meta::FindField(*of, field) : nullptr;
    return found && found->is_object() ? &found->get_object() : nullptr;
  };
  const json::object& source = child(&metric) ? *child(&metric) : empty;
  const json::object* current = child(status);
  if (type == "Resource" || type == "ContainerResource") return ResourceText(source, current);
  const std::string_view average = meta::FindString(source, "target", "averageValue");
  if (type == "Pods") {
    const std::string_view now =
        current ? TextOr(meta::FindString(*current, "current", "averageValue"), "0") : kUnknown;
    return fmt::format("{}/{}", now, TextOr(average, "0"));
  }
  if (!average.empty()) {
    const std::string_view now =
        current ? TextOr(meta::FindString(*current, "current", "averageValue"), kUnknown) : kUnknown;
    return fmt::format("{}/{} (avg)", now, average);
  }
  const std::string_view now = current ? TextOr(meta::FindString(*current, "current", "value"), "0") : kUnknown;
  return fmt::format("{}/{}", now, TextOr(meta::FindString(source, "target", "value"), "0"));
}

}  // namespace

std::string TargetsText(const json::object& document) {
  const auto metrics = Objects(meta::Find(document, "spec", "metrics"));
  const auto statuses = Objects(meta::Find(document, "status", "currentMetrics"));
  if (metrics.empty()) return "<none>";
  std::string text;
  for (std::size_t i = 0; i < metrics.size() && i < kShownMetrics; ++i) {
    if (i > 0) text += ", ";
    text += MetricText(metrics[i].get(), i < statuses.size() ? &statuses[i].get() : nullptr);
  }
  if (metrics.size() > kShownMetrics) text += fmt::format(" + {} more...", metrics.size() - kShownMetrics);
  return text;
}

}  // namespace apimesh::core_api
