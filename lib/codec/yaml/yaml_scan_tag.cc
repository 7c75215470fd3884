// Directives, anchors, aliases and tags.
#include "lib/codec/yaml/yaml_characters.h"
#include "lib/codec/yaml/yaml_scanner.h"

namespace apimesh::codec {
namespace {

bool IsAlpha(char c) { return YamlClass(c) & kYamlAlpha; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

int HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

bool YamlScanner::FetchDirective() {
  UnrollIndent(-1);
  if (!RemoveSimpleKey()) return false;
  simple_key_allowed_ = false;
  YamlToken token{.line = line_};
  const std::size_t name = ++at_;
  while (IsAlpha(At())) ++at_;
  const std::string_view found(buffer_.data() + name, at_ - name);
  if (found.empty()) return Fail("could not find expected directive name");
  if (!IsYamlSpaceOrEnd(Here())) return Fail("found unexpected non-alphabetical character");
  if (found == "YAML") {
    if (!ScanVersion(token)) return false;
  } else if (found == "TAG") {
    if (!ScanTagDirective(token)) return false;
  } else {
    return Fail("found unknown directive name");
  }
  SkipBlanks();
  SkipComment();
  if (!IsYamlBreakOrEnd(Here())) return Fail("did not find expected comment or line break");
  if (at_ < end_) SkipBreak();
  Push(token);
  return true;
}

bool YamlScanner::ScanVersion(YamlToken& token) {
  SkipBlanks();
  int major = 0, minor = 0;
  if (!ScanVersionNumber(major)) return false;
  if (At() != '.') return Fail("did not find expected digit or '.' character");
  ++at_;
  if (!ScanVersionNumber(minor)) return false;
  token.type = TokenType::kVersionDirective;
  token.plain = major == 1 && minor == 1;
  return true;
}

bool YamlScanner::ScanVersionNumber(int& number) {
  int length = 0;
  for (; IsDigit(At()); ++at_) {
    if (++length > 2) return Fail("found extremely long version number");
    number = number * 10 + (At() - '0');
  }
  return length > 0 || Fail("did not find expected version number");
}

bool YamlScanner::ScanTagDirective(YamlToken& token) {
  token.type = TokenType::kTagDirective;
  SkipBlanks();
  if (!ScanTagHandle(true, token.value)) return false;
  if (!IsYamlBlank(At())) return Fail("did not find expected whitespace");
  SkipBlanks();
  if (!ScanTagUri({}, token.suffix)) return false;
  return IsYamlSpaceOrEnd(Here()) || Fail("did not find expected whitespace or line break");
}

bool YamlScanner::FetchAnchor(TokenType type) {
  if (!SaveSimpleKey()) return false;
  simple_key_allowed_ = false;
  const std::size_t name = ++at_;
  while (IsAlpha(At())) ++at_;
  constexpr std::string_view kMayFollow = "?:,]}%@`";
  if (at_ == name || !(IsYamlSpaceOrEnd(Here()) || kMayFollow.find(At()) != std::string_view::npos)) {
    return Fail("did not find expected alphabetic or numeric character");
  }
  Push({.type = type, .line = line_, .value = std::string_view(buffer_.data() + name, at_ - name)});
  return true;
}

bool YamlScanner::FetchTag() {
  if (!SaveSimpleKey()) return false;
  simple_key_allowed_ = false;
  YamlToken token{.type = TokenType::kTag, .line = line_};
  if (At(1) == '<') {
    at_ += 2;
    if (!ScanTagUri({}, token.suffix)) return false;
    if (At() != '>') return Fail("did not find the expected '>'");
    ++at_;
  } else {
    std::string_view handle;
    if (!ScanTagHandle(false, handle)) return false;
    if (handle.size() > 1 && handle.back() == '!') {
      token.value = handle;
      if (!ScanTagUri({}, token.suffix)) return false;
    } else {
      // "!name" has the handle "!". A single "!" has no handle.
      if (!ScanTagUri(handle, token.suffix)) return false;
      token.value = token.suffix.empty() ? std::string_view() : handle.substr(0, 1);
      if (token.suffix.empty()) token.suffix = handle;
    }
  }
  if (!IsYamlSpaceOrEnd(Here())) return Fail("did not find expected whitespace or line break");
  Push(token);
  return true;
}

bool YamlScanner::ScanTagHandle(bool directive, std::string_view& handle) {
  const std::size_t start = at_;
  if (At() != '!') return Fail("did not find expected '!'");
  ++at_;
  while (IsAlpha(At())) ++at_;
  if (At() == '!') {
    ++at_;
  } else if (directive && at_ - start > 1) {
    return Fail("did not find expected '!'");
  }
  handle = std::string_view(buffer_.data() + start, at_ - start);
  return true;
}

/// Reads a tag URI. `head` is the handle that has just been scanned: everything but its "!" belongs to the URI.
bool YamlScanner::ScanTagUri(std::string_view head, std::string_view& uri) {
  const std::size_t start = head.empty() ? at_ : at_ - head.size() + 1;
  while ((YamlClass(At()) & (kYamlAlpha | kYamlUri)) && At() != '%') ++at_;
  uri = std::string_view(buffer_.data() + start, at_ - start);
  if (At() == '%') {
    const std::size_t copy = Pool().size();
    pool_.append(uri);
    while (YamlClass(At()) & (kYamlAlpha | kYamlUri)) {
      if (At() != '%') {
        pool_ += At();
        ++at_;
      } else if (!ScanUriEscape()) {
        return false;
      }
    }
    uri = std::string_view(pool_).substr(copy);
  }
  return !uri.empty() || !head.empty() || Fail("did not find expected tag URI");
}

bool YamlScanner::ScanUriEscape() {
  for (int left = 0, first = 1; first || left > 0; --left, first = 0) {
    const int high = At() == '%' ? HexDigit(At(1)) : -1;
    const int low = high >= 0 ? HexDigit(At(2)) : -1;
    if (low < 0) return Fail("did not find URI escaped octet");
    const int octet = high * 16 + low;
    if (first) {
      left = octet < 0x80             ? 1
             : (octet & 0xe0) == 0xc0 ? 2
             : (octet & 0xf0) == 0xe0 ? 3
             : (octet & 0xf8) == 0xf0 ? 4
                                      : 0;
      if (left == 0) return Fail("found an incorrect leading UTF-8 octet");
    } else if ((octet & 0xc0) != 0x80) {
      return Fail("found an incorrect trailing UTF-8 octet");
    }
    pool_ += static_cast<char>(octet);
    at_ += 3;
  }
  return true;
}

}  // namespace apimesh::codec
