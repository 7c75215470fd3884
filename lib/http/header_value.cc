#include "lib/http/header_value.h"

#include <algorithm>
#include <ctime>

namespace apimesh::http {

void AppendHeaderValue(std::string& out, std::string_view value) {
  const std::size_t begin = out.size();
  out += value;
  std::replace_if(
      out.begin() + static_cast<std::ptrdiff_t>(begin), out.end(),
      [](char c) { return c == '\r' || c == '\n' || c == '\0'; }, ' ');
}

std::string_view DateText(WallTime time) {
  thread_local std::time_t made_at = 0;
  thread_local char text[40] = "";
  const std::time_t now = std::chrono::system_clock::to_time_t(time);
  if (now != made_at) {
    made_at = now;
    std::tm parts{};
    gmtime_r(&now, &parts);
    std::strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  }
  return text;
}

}  // namespace apimesh::http
