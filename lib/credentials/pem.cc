#include "lib/credentials/pem.h"

#include "lib/base/text/base64.h"

namespace apimesh::credentials {
namespace {

constexpr std::string_view kBegin = "-----BEGIN ", kEnd = "-----END ", kDashes = "-----";

/// Removes the next line from `text` and returns it without trailing spaces.
std::string_view TakeLine(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t')) line.remove_suffix(1);
  return line;
}

/// Returns the type of a line such as "-----BEGIN CERTIFICATE-----", or "" if it is not such a line.
std::string_view TypeOf(std::string_view line, std::string_view start) {
  if (!line.starts_with(start) || !line.ends_with(kDashes) || line.size() < start.size() + kDashes.size()) return {};
  return line.substr(start.size(), line.size() - start.size() - kDashes.size());
}

}  // namespace

meta::Result<std::vector<PemBlock>> PemBlocks(std::string_view text) {
  std::vector<PemBlock> blocks;
  while (!text.empty()) {
    const std::string_view first = TakeLine(text);
    if (first.find(kBegin) == std::string_view::npos && first.find(kEnd) == std::string_view::npos) continue;
    PemBlock block{.type = std::string(TypeOf(first, kBegin))};
    if (block.type.empty()) return meta::BadRequest("malformed PEM block");
    std::string base64;
    while (true) {
      if (text.empty()) return meta::BadRequest("malformed PEM block");
      const std::string_view line = TakeLine(text);
      if (TypeOf(line, kEnd) == block.type) break;
      if (line.find(':') != std::string_view::npos) {
        block.headers = true;
      } else if (line.find(kDashes) != std::string_view::npos) {
        return meta::BadRequest("malformed PEM block");
      } else {
        base64 += line;
      }
    }
    if (!block.headers && DecodeBase64(base64, block.bytes)) return meta::BadRequest("malformed PEM block");
    blocks.push_back(std::move(block));
  }
  return blocks;
}

}  // namespace apimesh::credentials
