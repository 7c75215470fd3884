#include "services/launcher/migration/migration_report.h"

#include <stdexcept>
#include <string_view>

#include <boost/json.hpp>
#include <fmt/format.h>

namespace apimesh::launcher {
namespace {

namespace json = boost::json;

/// The range of `apimesh up`, which needs no flag.
constexpr std::string_view kDefaultServiceRange = "10.96.0.0/12";

std::string_view Describe(std::string_view problem) {
  if (problem == "unreadable") return "cannot be read";
  if (problem == "notServed") return "are not served";
  if (problem == "losesFields") return "would lose fields";
  return "need --runtime-config";
}

std::int64_t NumberAt(const json::object& object, std::string_view name) {
  return object.at(name).to_number<std::int64_t>();
}

}  // namespace

MigrationReport::MigrationReport(const std::string& text) {
  boost::system::error_code error;
  json::value document = json::parse(text, error);
  if (error || !document.is_object()) throw std::runtime_error("object-check printed no report");
  document_ = std::move(document.get_object());
}

std::int64_t MigrationReport::Damaged() const {
  std::int64_t objects = 0;
  for (const json::value& problem : document_.at("problems").as_array()) {
    const std::string_view what = problem.at("problem").as_string();
    if (what == "unreadable" || what == "losesFields") objects += NumberAt(problem.as_object(), "objects");
  }
  return objects;
}

std::vector<std::string> MigrationReport::Flags() const {
  const std::string_view ranges = document_.at("serviceRanges").as_string();
  if (ranges.empty() || ranges == kDefaultServiceRange) return {};
  return {fmt::format("--service-cluster-ip-range={}", ranges)};
}

std::string MigrationReport::Text() const {
  std::string text = fmt::format(
      "Checked {} objects of {} resources at revision {}: {} in protobuf, {} in JSON, {} of them encrypted.\n",
      NumberAt(document_, "objects"), document_.at("resources").as_object().size(), NumberAt(document_, "revision"),
      NumberAt(document_, "protobuf"), NumberAt(document_, "json"), NumberAt(document_, "encrypted"));
  if (const std::int64_t foreign = NumberAt(document_, "foreign"); foreign > 0)
    text += fmt::format("{} keys are not those of the API server; they were not checked.\n", foreign);
  for (const json::value& value : document_.at("problems").as_array()) {
    const json::object& problem = value.as_object();
    text +=
        fmt::format("{} objects of {} {}:\n", NumberAt(problem, "objects"),
                    std::string_view(problem.at("resource").as_string()), Describe(problem.at("problem").as_string()));
    for (const json::value& example : problem.at("examples").as_array()) {
      text += fmt::format("  {}: {}\n", std::string_view(example.at("key").as_string()),
                          std::string_view(example.at("message").as_string()));
    }
    const std::int64_t more =
        NumberAt(problem, "objects") - static_cast<std::int64_t>(problem.at("examples").as_array().size());
    if (more > 0) text += fmt::format("  and {} more\n", more);
  }
  return text;
}

}  // namespace apimesh::launcher
