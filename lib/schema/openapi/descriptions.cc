#include "lib/schema/openapi/descriptions.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "lib/base/log.h"

namespace apimesh::schema {
namespace {

constexpr std::string_view kHead = "apimesh-descriptions 1 ";
constexpr std::size_t kMaxHead = 256;

/// Reads up to `limit` bytes from the start of a file. Fewer are returned at its end or after an error.
std::string ReadStart(int file, std::size_t limit) {
  std::string text;
  char buffer[64 << 10];
  while (text.size() < limit) {
    const ssize_t size =
        ::pread(file, buffer, std::min(sizeof buffer, limit - text.size()), static_cast<off_t>(text.size()));
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    text.append(buffer, static_cast<std::size_t>(size));
  }
  return text;
}

/// Returns the digest in the first line, "" if it is not that of a file of descriptions.
std::string DigestIn(std::string_view head) {
  const std::size_t end = head.find('\n');
  if (!head.starts_with(kHead) || end == std::string_view::npos) return "";
  const std::string_view line = head.substr(0, end);
  return std::string(line.substr(line.rfind(' ') + 1));
}

/// Removes and returns the first line of `text`.
std::string_view TakeLine(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

/// Splits at the first tab.
std::pair<std::string_view, std::string_view> Cut(std::string_view line) {
  const std::size_t tab = line.find('\t');
  if (tab == std::string_view::npos) return {line, ""};
  return {line.substr(0, tab), line.substr(tab + 1)};
}

std::string Unescaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char escaped = text[++i];
    out += escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped;
  }
  return out;
}

}  // namespace

DescriptionTexts::DescriptionTexts(std::string file) : file_(std::move(file)) {
  std::string_view rest = file_;
  TakeLine(rest);
  while (!rest.empty()) {
    const auto [name, start] = Cut(rest);
    rest = start;
    // The block ends before the next line that does not begin with a tab.
    std::size_t end = rest.find('\n');
    while (end != std::string_view::npos && end + 1 < rest.size() && rest[end + 1] == '\t')
      end = rest.find('\n', end + 1);
    blocks_.emplace(name, rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
}

std::string_view DescriptionTexts::Block(std::string_view definition) const {
  const auto found = blocks_.find(definition);
  return found == blocks_.end() ? std::string_view() : found->second;
}

std::string DescriptionTexts::OfDefinition(std::string_view definition) const {
  std::string_view block = Block(definition);
  return Unescaped(TakeLine(block));
}

std::string DescriptionTexts::OfField(std::string_view definition, std::string_view field) const {
  std::string_view block = Block(definition);
  TakeLine(block);
  while (!block.empty()) {
    const auto [name, text] = Cut(TakeLine(block).substr(1));
    if (name == field) return Unescaped(text);
  }
  return "";
}

Descriptions::Descriptions(const std::string& path) {
  if (path.empty()) return;
  file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file_ < 0) {
    log::Warning("--descriptions-file={}: {}; the OpenAPI documents have no descriptions", path, std::strerror(errno));
    return;
  }
  digest_ = DigestIn(ReadStart(file_, kMaxHead));
  if (digest_.empty()) {
    log::Warning(
        "--descriptions-file={} is not a file of this version of apimesh; the OpenAPI documents have no descriptions. "
        "`./apimesh descriptions` makes a new file",
        path);
  }
}

Descriptions::~Descriptions() {
  if (file_ >= 0) ::close(file_);
}

DescriptionTexts Descriptions::Read() const {
  return DescriptionTexts(digest_.empty() ? "" : ReadStart(file_, std::string::npos));
}

}  // namespace apimesh::schema
