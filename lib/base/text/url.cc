#include "lib/base/text/url.h"

namespace apimesh {
namespace {

/// Encodes all characters except letters, digits and `plain`.
std::string Encode(std::string_view text, std::string_view plain) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const bool alphanumeric = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    if (alphanumeric || plain.find(c) != std::string_view::npos) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += kHex[byte >> 4];
    out += kHex[byte & 15];
  }
  return out;
}

}  // namespace

std::string EncodePath(std::string_view path) { return Encode(path, "-._~/:@!$&'()*+,;="); }

std::string EncodeQuery(std::string_view text) { return Encode(text, "-._~"); }

}  // namespace apimesh
