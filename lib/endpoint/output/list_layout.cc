#include "lib/endpoint/output/list_layout.h"

#include <algorithm>
#include <limits>

#include "lib/codec/codec.h"
#include "lib/endpoint/output/encode.h"

namespace apimesh::endpoint {

bool ListLayout::IsFor(const codec::OutputType& output) {
  return output.format == codec::Format::kYaml || (output.format == codec::Format::kJson && output.pretty);
}

ListLayout::ListLayout(const codec::OutputType& output, const std::string& head, const std::string& tail)
    : yaml_(output.format == codec::Format::kYaml), empty_(Convert(output, head + tail, nullptr)) {
  // Converts a list with two placeholder items. The text around the placeholders is the text around every item.
  std::string item = "item";
  while (empty_.find(item) != std::string::npos) item += 'x';
  const std::string two = Convert(output, head + '"' + item + "\",\"" + item + '"' + tail, nullptr);
  // In YAML the placeholder is a plain scalar, in JSON it is quoted.
  const std::string written = yaml_ ? item : '"' + item + '"';
  const std::size_t first = two.find(written), second = two.rfind(written);
  before_ = two.substr(0, first);
  between_ = two.substr(first + written.size(), second - first - written.size());
  after_ = two.substr(second + written.size());
  // Finds the start of the item's line: its dash, or the item itself.
  const std::size_t line = before_.rfind('\n') + 1;
  indent_ = std::min(before_.find_first_not_of(' ', line), before_.size()) - line;
}

std::string_view ListLayout::Before() {
  const std::string_view text = any_ ? between_ : before_;
  any_ = true;
  return text;
}

std::string ListLayout::Item(std::string_view json) const {
  // A stored object may be larger than a request body may be.
  static constexpr codec::ParseLimits kOurOwn{.bytes = std::numeric_limits<std::size_t>::max()};
  const meta::Result<meta::json::value> value = codec::ParseJson(json, meta::NewArena(), nullptr, kOurOwn);
  if (!value) return std::string(json);
  return yaml_ ? codec::WriteYamlElement(*value, indent_) : codec::WritePrettyJson(*value, indent_);
}

}  // namespace apimesh::endpoint
