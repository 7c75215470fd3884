#include "lib/schema/values/address_formats.h"

#include <algorithm>

#include "lib/base/ip_address.h"

namespace apimesh::schema {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }
bool NotAscii(char c) { return static_cast<unsigned char>(c) >= 0x80; }
bool Contains(std::string_view set, char c) { return set.find(c) != std::string_view::npos; }

/// Returns whether each '%' is followed by two hexadecimal digits. `allowed` decides about the other characters.
template <class Allowed>
bool IsEscaped(std::string_view text, Allowed allowed) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      if (i + 2 >= text.size() || !IsHex(text[i + 1]) || !IsHex(text[i + 2])) return false;
      i += 2;
    } else if (!allowed(text[i])) {
      return false;
    }
  }
  return true;
}

bool IsHost(std::string_view host) {
  std::string_view port;
  if (host.starts_with('[')) {
    const std::size_t end = host.rfind(']');
    if (end == std::string_view::npos) return false;
    port = host.substr(end + 1);
    std::string_view address = host.substr(1, end - 1);
    if (const std::size_t zone = address.find("%25"); zone != std::string_view::npos) address = address.substr(0, zone);
    if (address.find(':') == std::string_view::npos || !ParseIp(address)) return false;
  } else if (const std::size_t colon = host.rfind(':'); colon != std::string_view::npos) {
    port = host.substr(colon);
  }
  if (!port.empty() && (port[0] != ':' || !std::all_of(port.begin() + 1, port.end(), IsDigit))) return false;
  // Only bytes that are not ASCII may be escaped in a host.
  for (std::size_t i = host.find('%'); i != std::string_view::npos && host[0] != '['; i = host.find('%', i + 1)) {
    if (i + 1 >= host.size() || host[i + 1] < '8') return false;
  }
  return IsEscaped(
      host, [](char c) { return NotAscii(c) || IsLetter(c) || IsDigit(c) || Contains("-_.~!$&'()*+,;=:[]<>\"", c); });
}

bool IsUserInfo(std::string_view user) {
  return IsEscaped(user, [](char c) { return IsLetter(c) || IsDigit(c) || Contains("-._:~!$&'()*+,;=%@", c); });
}

/// Returns the length of the scheme with its colon; 0 if there is none, npos if the text starts with a colon.
std::size_t SchemeLength(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ':') return i == 0 ? std::string_view::npos : i + 1;
    if (IsLetter(text[i])) continue;
    if (i == 0 || !(IsDigit(text[i]) || Contains("+-.", text[i]))) return 0;
  }
  return 0;
}

/// Reads a mail address from left to right.
class AddressParser {
 public:
  explicit AddressParser(std::string_view text) : text_(text) {}

  bool Parse() {
    SkipSpace();
    const std::string_view start = text_;
    if (Specification() && AtEnd()) return true;
    text_ = start;
    return Phrase() && Take('<') && Specification() && Take('>') && AtEnd();
  }

 private:
  void SkipSpace() { text_.remove_prefix(std::min(text_.find_first_not_of(" \t"), text_.size())); }

  bool Take(char c) {
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }

  bool AtEnd() {
    SkipSpace();
    return text_.empty();
  }

  static bool IsAtomCharacter(char c) {
    return NotAscii(c) || IsLetter(c) || IsDigit(c) || Contains("!#$%&'*+-/=?^_`{|}~", c);
  }

  /// Reads atoms, which dots separate if `dots` is set.
  bool Atoms(bool dots) {
    const auto end =
        std::find_if(text_.begin(), text_.end(), [dots](char c) { return !IsAtomCharacter(c) && !(dots && c == '.'); });
    const std::string_view atoms = text_.substr(0, static_cast<std::size_t>(end - text_.begin()));
    if (atoms.empty() || atoms.starts_with('.') || atoms.ends_with('.')) return false;
    if (atoms.find("..") != std::string_view::npos) return false;
    text_.remove_prefix(atoms.size());
    return true;
  }

  bool QuotedString() {
    if (!Take('"')) return false;
    while (!text_.empty() && text_[0] != '"') {
      if (text_[0] == '\\') text_.remove_prefix(1);
      if (text_.empty() || (IsControl(text_[0]) && text_[0] != '\t')) return false;
      text_.remove_prefix(1);
    }
    return Take('"');
  }

  bool DomainLiteral() {
    if (!Take('[')) return false;
    const std::size_t end = text_.find(']');
    if (end == std::string_view::npos || !ParseIp(text_.substr(0, end))) return false;
    text_.remove_prefix(end + 1);
    return true;
  }

  bool Specification() {
    const bool local = text_.starts_with('"') ? QuotedString() : Atoms(true);
    if (!local) return false;
    SkipSpace();
    if (!Take('@')) return false;
    SkipSpace();
    return text_.starts_with('[') ? DomainLiteral() : Atoms(true);
  }

  /// Reads a display name, which may be missing.
  bool Phrase() {
    for (;;) {
      SkipSpace();
      if (text_.starts_with('<')) return true;
      if (!(text_.starts_with('"') ? QuotedString() : Atoms(true))) return false;
    }
  }

  std::string_view text_;
};

}  // namespace

bool IsRequestUri(std::string_view text) {
  if (text.empty() || std::any_of(text.begin(), text.end(), IsControl)) return false;
  if (text == "*") return true;
  const std::size_t scheme = SchemeLength(text);
  if (scheme == std::string_view::npos) return false;
  std::string_view rest = text.substr(scheme);
  rest = rest.substr(0, rest.find('?'));
  if (!rest.starts_with('/')) return scheme > 0;  // an opaque URI: "mailto:a@example.com"
  if ((scheme > 0 || !rest.starts_with("///")) && rest.starts_with("//")) {
    const std::string_view authority = rest.substr(2, rest.find('/', 2) - 2);
    rest = rest.substr(std::min(authority.size() + 2, rest.size()));
    const std::size_t at = authority.rfind('@');
    if (at != std::string_view::npos && !IsUserInfo(authority.substr(0, at))) return false;
    if (!IsHost(at == std::string_view::npos ? authority : authority.substr(at + 1))) return false;
  }
  return IsEscaped(rest, [](char) { return true; });
}

bool IsEmailAddress(std::string_view text) { return AddressParser(text).Parse(); }

}  // namespace apimesh::schema
