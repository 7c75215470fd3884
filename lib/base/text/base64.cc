#include "lib/base/text/base64.h"

#include <array>
#include <cstdint>

namespace apimesh {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrlAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

constexpr std::array<std::int8_t, 256> DigitsOf(std::string_view alphabet) {
  std::array<std::int8_t, 256> digits{};
  digits.fill(-1);
  for (std::size_t i = 0; i < alphabet.size(); ++i)
    digits[static_cast<unsigned char>(alphabet[i])] = static_cast<std::int8_t>(i);
  return digits;
}
constexpr std::array<std::int8_t, 256> kDigits = DigitsOf(kAlphabet);
constexpr std::array<std::int8_t, 256> kUrlDigits = DigitsOf(kUrlAlphabet);

bool IsBreak(char c) { return c == '\r' || c == '\n'; }

}  // namespace

std::string EncodeBase64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t at) {
      return at < bytes.size() ? std::uint32_t(static_cast<unsigned char>(bytes[at])) : 0u;
    };
    const std::uint32_t group = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    out += kAlphabet[group >> 18];
    out += kAlphabet[group >> 12 & 63];
    out += i + 1 < bytes.size() ? kAlphabet[group >> 6 & 63] : '=';
    out += i + 2 < bytes.size() ? kAlphabet[group & 63] : '=';
  }
  return out;
}

std::optional<std::size_t> DecodeBase64(std::string_view text, std::string& bytes) {
  bytes.clear();
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  int count = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (IsBreak(c)) continue;
    if (c == '=') {
      if (count < 2) return at;
      // Exactly as many '=' as the group lacks must follow, and nothing after them.
      std::size_t next = at + 1;
      if (count == 2) {
        while (next < text.size() && IsBreak(text[next])) ++next;
        if (next == text.size()) return text.size();
        if (text[next] != '=') return next;
        ++next;
      }
      while (next < text.size() && IsBreak(text[next])) ++next;
      if (next < text.size()) return next;
      bytes += static_cast<char>(count == 2 ? group >> 4 : group >> 10);
      if (count == 3) bytes += static_cast<char>(group >> 2);
      return std::nullopt;
    }
    const int digit = kDigits[static_cast<unsigned char>(c)];
    if (digit < 0) return at;
    group = group << 6 | static_cast<std::uint32_t>(digit);
    if (++count == 4) {
      bytes += static_cast<char>(group >> 16);
      bytes += static_cast<char>(group >> 8);
      bytes += static_cast<char>(group);
      group = 0;
      count = 0;
    }
  }
  if (count != 0) return text.size() - static_cast<std::size_t>(count);
  return std::nullopt;
}

std::string EncodeBase64Url(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() * 4 + 2) / 3);
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : bytes) {
    bits = (bits << 8) | static_cast<unsigned char>(c);
    for (count += 8; count >= 6;) text += kUrlAlphabet[(bits >> (count -= 6)) & 63];
  }
  if (count > 0) text += kUrlAlphabet[(bits << (6 - count)) & 63];
  return text;
}

std::optional<std::string> DecodeBase64Url(std::string_view text) {
  std::string bytes;
  if (text.find_first_of("\r\n") != std::string_view::npos || DecodeLenientBase64Url(text, bytes)) return std::nullopt;
  // If two texts were accepted for the same bytes, one signature would have two tokens.
  if (!text.empty() && EncodeBase64Url(bytes).back() != text.back()) return std::nullopt;
  return bytes;
}

std::optional<std::size_t> DecodeLenientBase64Url(std::string_view text, std::string& bytes) {
  bytes.clear();
  bytes.reserve(text.size() * 3 / 4);
  std::uint32_t bits = 0;
  int count = 0;
  std::size_t digits = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (IsBreak(text[at])) continue;
    const int digit = kUrlDigits[static_cast<unsigned char>(text[at])];
    if (digit < 0) return at;
    ++digits;
    bits = (bits << 6) | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count >= 8) bytes += static_cast<char>(bits >> (count -= 8));
  }
  if (digits % 4 == 1) return text.size() - 1;
  return std::nullopt;
}

}  // namespace apimesh
