#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace apimesh::launcher {

/// One line of a text in the format of Prometheus. Refers to the text.
struct MetricSample {
  std::string_view name;
  std::string_view labels;  // between the braces
  double value = 0;

  /// Returns the value of a label; "" if there is none. Escaped characters stay escaped.
  std::string Label(std::string_view label) const;
};

/// Calls `handle` for each sample of a text. Ignores comments and lines that are no samples.
void ForEachSample(std::string_view text, const std::function<void(const MetricSample&)>& handle);

}  // namespace apimesh::launcher
