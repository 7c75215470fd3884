#include "lib/cel/syntax/problems.h"

#include <algorithm>

#include "lib/cel/value/text.h"

namespace apimesh::cel {
namespace {

constexpr std::size_t kMaxProblems = 100, kMaxSnippet = 16384;

struct Location {
  int line = -1, column = -1;  // lines from 1, columns from 0
  std::string_view text;       // of the line
};

Location Locate(std::string_view source, std::int32_t position) {
  Location out;
  if (position < 0) return out;
  out.line = 1;
  out.column = 0;
  std::size_t line_start = 0, at = 0;
  for (std::int32_t i = 0; i < position && at < source.size(); ++i) {
    const bool line_break = source[at] == '\n';
    NextCodePoint(source, at);
    ++out.column;
    if (!line_break) continue;
    ++out.line;
    out.column = 0;
    line_start = at;
  }
  out.text = source.substr(line_start, source.find('\n', line_start) - line_start);
  return out;
}

std::string Snippet(const Location& location) {
  std::string line(location.text);
  std::replace(line.begin(), line.end(), '\t', ' ');
  std::string marks;
  std::size_t at = 0;
  for (int i = 0; i < location.column && at < line.size(); ++i) {
    const std::size_t begin = at;
    NextCodePoint(line, at);
    marks += at - begin > 1 ? "．" : ".";
  }
  const std::size_t begin = at;
  if (at < line.size()) NextCodePoint(line, at);
  marks += at - begin > 1 ? "＾" : "^";
  return "\n | " + line + "\n | " + marks;
}

}  // namespace

void Problems::Add(std::int32_t position, std::string text) {
  if (++count_ <= kMaxProblems) problems_.push_back({position, std::move(text)});
}

std::string Problems::ToString() const {
  std::vector<std::pair<Location, std::string_view>> located;
  for (const Problem& problem : problems_) located.emplace_back(Locate(source_, problem.position), problem.text);
  std::stable_sort(located.begin(), located.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first.line, a.first.column) < std::pair(b.first.line, b.first.column);
  });
  std::string out;
  for (const auto& [location, text] : located) {
    if (!out.empty()) out += '\n';
    const int column = source_.empty() ? 0 : location.column + 1;  // as the parser of the reference reports it
    out += fmt::format("ERROR: <input>:{}:{}: {}", location.line, column, text);
    if (location.line > 0 && !source_.empty() && location.text.size() <= kMaxSnippet) out += Snippet(location);
  }
  if (count_ > kMaxProblems) out += fmt::format("\n{} more errors were truncated", count_ - kMaxProblems);
  return out;
}

}  // namespace apimesh::cel
