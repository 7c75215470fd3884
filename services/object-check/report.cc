#include "services/object-check/report.h"

#include <boost/json.hpp>

namespace apimesh::object_check {
namespace json = boost::json;

std::string_view ToString(Problem problem) {
  switch (problem) {
    case Problem::kUnreadable: return "unreadable";
    case Problem::kNotServed: return "notServed";
    case Problem::kLosesFields: return "losesFields";
    case Problem::kOffByDefault: return "offByDefault";
  }
  return "";
}

void Report::Add(Problem problem, const std::string& resource, std::string_view key, std::string message) {
  Finding& finding = findings_[{problem, resource}];
  ++finding.objects;
  if (finding.examples.size() < kMaxExamples) finding.examples.emplace_back(key, std::move(message));
}

std::uint64_t Report::Affected(Problem problem) const {
  std::uint64_t objects = 0;
  for (const auto& [key, finding] : findings_)
    if (key.first == problem) objects += finding.objects;
  return objects;
}

json::object Report::ToJson() const {
  json::object resources;
  for (const auto& [resource, count] : resources_) resources[resource] = count;
  json::array problems;
  for (const auto& [key, finding] : findings_) {
    json::array examples;
    for (const auto& [name, message] : finding.examples)
      examples.push_back(json::object{{"key", name}, {"message", message}});
    problems.push_back(json::object{{"problem", ToString(key.first)},
                                    {"resource", key.second},
                                    {"objects", finding.objects},
                                    {"examples", std::move(examples)}});
  }
  return {{"revision", revision},
          {"objects", objects},
          {"bytes", bytes},
          {"protobuf", protobuf},
          {"json", json},
          {"encrypted", encrypted},
          {"internal", internal},
          {"foreign", foreign},
          {"serviceRanges", service_ranges},
          {"resources", std::move(resources)},
          {"problems", std::move(problems)}};
}

}  // namespace apimesh::object_check
