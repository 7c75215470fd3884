#include "services/aggregator/edge/target.h"

#include "lib/base/text/utf8.h"
#include "lib/meta/selectors/query.h"

namespace apimesh::aggregator {

std::optional<Target> ParseTarget(std::string_view target) {
  for (const std::string_view scheme : {"http://", "https://"}) {  // absolute form: what a client says to a proxy
    if (!target.starts_with(scheme)) continue;
    const std::size_t slash = target.find('/', scheme.size());
    target = slash == std::string_view::npos ? std::string_view("/") : target.substr(slash);
  }
  if (!target.starts_with('/') || target.find('#') != std::string_view::npos) return std::nullopt;
  const std::size_t mark = target.find('?');
  auto path = meta::PercentDecode(target.substr(0, mark), false);
  // Names must be valid UTF-8 in protobuf messages, in JSON and in the audit log.
  if (!path || !IsValidUtf8(*path)) return std::nullopt;
  for (const char c : *path) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return std::nullopt;
  }
  for (std::size_t start = 0; start < path->size();) {
    const std::size_t end = std::min(path->find('/', start), path->size());
    const std::string_view segment = std::string_view(*path).substr(start, end - start);
    if (segment == "." || segment == "..") return std::nullopt;
    start = end + 1;
  }
  return Target{std::move(*path), mark == std::string_view::npos ? "" : std::string(target.substr(mark + 1))};
}

}  // namespace apimesh::aggregator
