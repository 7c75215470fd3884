#include "lib/storage/continue_token.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <array>

namespace apimesh::storage {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::string_view kVersion = "meta.k8s.io/v1";
constexpr std::size_t kMaxToken = 4096;

std::string Base64(std::string_view bytes) {
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (const unsigned char byte : bytes) {
    bits = bits << 8 | byte;
    for (count += 8; count >= 6; count -= 6) out += kAlphabet[bits >> (count - 6) & 63];
  }
  if (count > 0) out += kAlphabet[bits << (6 - count) & 63];
  return out;
}

/// Without padding; ends of lines are skipped. `wrong` is set to the place of what can't be read, and nothing is returned.
std::optional<std::string> FromBase64(std::string_view text, std::size_t& wrong) {
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  std::size_t digits = 0;  // of the last group of four
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n' || text[i] == '\r') continue;
    const std::size_t value = kAlphabet.find(text[i]);
    wrong = i;
    if (value == std::string_view::npos) return std::nullopt;
    digits = digits % 4 + 1;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    count += 6;
    if (count >= 8) out += static_cast<char>(bits >> (count -= 8) & 255);
  }
  wrong = text.size() - 1;
  return digits == 1 ? std::nullopt : std::optional(out);
}

/// A path that would climb out of the list's prefix, or that is not in its shortest form.
bool Unclean(std::string_view key) {
  if (key.starts_with('/')) key.remove_prefix(1);
  for (std::size_t begin = 0; begin <= key.size();) {
    const std::size_t end = std::min(key.find('/', begin), key.size());
    const std::string_view step = key.substr(begin, end - begin);
    if (step.empty() || step == "." || step == "..") return true;
    begin = end + 1;
  }
  return false;
}

meta::ApiError Bad(std::string_view why) { return meta::BadRequest(fmt::format("invalid continue token: continue key is not valid{}", why)); }

}  // namespace

std::string ContinueToken::Encode() const {
  boost::json::object token;
  token["v"] = kVersion;
  token["rv"] = revision;
  token["start"] = "/" + start;
  return Base64(boost::json::serialize(token));
}

meta::Result<ContinueToken> ContinueToken::Decode(std::string_view text) {
  std::size_t wrong = kMaxToken;
  const auto bytes = text.size() <= kMaxToken ? FromBase64(text, wrong) : std::nullopt;
  if (!bytes) return Bad(fmt::format(": illegal base64 data at input byte {}", wrong));
  boost::system::error_code error;
  const boost::json::value parsed = boost::json::parse(*bytes, error);
  if (error || !parsed.is_object()) return Bad(": invalid character in token");
  const auto text_of = [&](std::string_view name) -> std::string_view {
    const boost::json::value* value = parsed.get_object().if_contains(name);
    return value && value->is_string() ? std::string_view(value->get_string()) : std::string_view();
  };
  if (text_of("v") != kVersion) {
    return Bad(fmt::format(": server does not recognize this encoded version {}", text_of("v")));
  }
  ContinueToken token;
  if (const auto* value = parsed.get_object().if_contains("rv"); value && value->is_int64()) token.revision = value->get_int64();
  if (token.revision == 0) return Bad(": incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
  std::string_view start = text_of("start");
  if (start.empty()) return Bad(": encoded start key empty (version meta.k8s.io/v1)");
  if (Unclean(start)) return Bad(fmt::format(": {}", start));
  if (start.starts_with('/')) start.remove_prefix(1);
  token.start = start;
  return token;
}

}  // namespace apimesh::storage
