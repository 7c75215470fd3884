#include "services/launcher/inspect/metrics_text.h"

#include <cstdlib>

#include "lib/base/text/text.h"

namespace apimesh::launcher {
namespace {

/// Returns the position after the closing quote of a label's value that begins at `at`, or npos.
std::size_t EndOfValue(std::string_view text, std::size_t at) {
  for (; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return std::string_view::npos;
}

}  // namespace

std::string MetricSample::Label(std::string_view label) const {
  for (std::size_t at = 0; at < labels.size();) {
    const std::size_t equals = labels.find("=\"", at);
    if (equals == std::string_view::npos) return "";
    const std::size_t end = EndOfValue(labels, equals + 2);
    if (end == std::string_view::npos) return "";
    if (labels.substr(at, equals - at) == label) return std::string(labels.substr(equals + 2, end - equals - 3));
    at = end + 1;  // after the comma
  }
  return "";
}

void ForEachSample(std::string_view text, const std::function<void(const MetricSample&)>& handle) {
  for (const std::string_view line : Split(text, '\n')) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t space = line.rfind(' ');
    if (space == std::string_view::npos) continue;
    MetricSample sample;
    sample.name = line.substr(0, space);
    if (const std::size_t brace = sample.name.find('{'); brace != std::string_view::npos) {
      if (sample.name.back() != '}') continue;
      sample.labels = sample.name.substr(brace + 1, sample.name.size() - brace - 2);
      sample.name = sample.name.substr(0, brace);
    }
    const std::string number(line.substr(space + 1));
    char* end = nullptr;
    sample.value = std::strtod(number.c_str(), &end);
    if (end == number.c_str()) continue;
    handle(sample);
  }
}

}  // namespace apimesh::launcher
