#include "lib/gzip/accepts.h"

#include "lib/base/text/trim.h"

namespace apimesh::gzip {

bool Accepts(std::string_view accept_encoding) {
  while (!accept_encoding.empty()) {
    const std::size_t comma = accept_encoding.find(',');
    std::string_view item = accept_encoding.substr(0, comma);
    accept_encoding = comma == std::string_view::npos ? std::string_view() : accept_encoding.substr(comma + 1);
    const std::size_t semicolon = item.find(';');
    const std::string_view parameters =
        semicolon == std::string_view::npos ? std::string_view() : TrimSpace(item.substr(semicolon + 1));
    item = TrimSpace(item.substr(0, semicolon));
    if (item != "gzip" && item != "*") continue;
    const bool refused =
        parameters.starts_with("q=0") && parameters.find_first_not_of("0.", 2) == std::string_view::npos;
    return !refused;
  }
  return false;
}

}  // namespace apimesh::gzip
