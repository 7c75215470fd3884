#include "lib/endpoint/list_layout.h"

#include <algorithm>
#include <limits>

#include "lib/codec/codec.h"
#include "lib/endpoint/encode.h"

namespace apimesh::endpoint {

bool ListLayout::IsFor(const codec::OutputType& output) {
  return output.format == codec::Format::kYaml || (output.format == codec::Format::kJson && output.pretty);
}

ListLayout::ListLayout(const codec::OutputType& output, const std::string& head, const std::string& tail)
    : yaml_(output.format == codec::Format::kYaml), empty_(Convert(output, head + tail, nullptr)) {
  // Two stand-ins for items are converted with what is around them, and what the writer puts around them is what every item gets.
  std::string item = "item";
  while (empty_.find(item) != std::string::npos) item += 'x';
  const std::string two = Convert(output, head + '"' + item + "\",\"" + item + '"' + tail, nullptr);
  // An element of YAML is a plain text, one of JSON has its quotes.
  const std::string written = yaml_ ? item : '"' + item + '"';
  const std::size_t first = two.find(written), second = two.rfind(written);
  before_ = two.substr(0, first);
  between_ = two.substr(first + written.size(), second - first - written.size());
  after_ = two.substr(second + written.size());
  // Where the line of an item begins: with its dash, or with itself.
  const std::size_t line = before_.rfind('\n') + 1;
  indent_ = std::min(before_.find_first_not_of(' ', line), before_.size()) - line;
}

std::string_view ListLayout::Before() {
  const std::string_view text = any_ ? between_ : before_;
  any_ = true;
  return text;
}

std::string ListLayout::Item(std::string_view json) const {
  // What is in the store may be larger than what a client may send.
  static constexpr codec::ParseLimits kOurOwn{.bytes = std::numeric_limits<std::size_t>::max()};
  const meta::Result<meta::json::value> value = codec::ParseJson(json, meta::NewArena(), nullptr, kOurOwn);
  if (!value) return std::string(json);
  return yaml_ ? codec::WriteYamlElement(*value, indent_) : codec::WritePrettyJson(*value, indent_);
}

}  // namespace apimesh::endpoint
