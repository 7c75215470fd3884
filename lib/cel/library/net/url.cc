#include "lib/cel/library/net/url.h"

#include <algorithm>
#include <map>

#include "lib/meta/errors/field_error.h"

namespace apimesh::cel {
namespace {

bool IsAlpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool IsUnreserved(char c) {
  return IsAlpha(c) || IsDigit(c) || (c && std::string_view("-_.~").find(c) != std::string_view::npos);
}
bool IsOneOf(char c, std::string_view set) { return c && set.find(c) != std::string_view::npos; }
int HexDigit(char c) { return IsDigit(c) ? c - '0' : (c | 0x20) - 'a' + 10; }

// Decodes %41. In queries, "+" is a space.
std::optional<std::string> DecodePercent(std::string_view text, bool query, std::string& error) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      if (i + 2 >= text.size() || !IsHex(text[i + 1]) || !IsHex(text[i + 2])) {
        error = "invalid URL escape " + meta::Quoted(text.substr(i, 3));
        return std::nullopt;
      }
      out += static_cast<char>(HexDigit(text[i + 1]) * 16 + HexDigit(text[i + 2]));
      i += 2;
    } else {
      out += query && text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

std::string EscapePath(std::string_view path) {
  std::string out;
  for (const char c : path) {
    if (IsUnreserved(c) || IsOneOf(c, "$&+,/:;=@")) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

bool IsValidPort(std::string_view port) {
  return port.empty() || (port[0] == ':' && std::all_of(port.begin() + 1, port.end(), IsDigit));
}

bool CheckHost(std::string_view host, std::string& error) {
  if (host.starts_with('[')) {
    const std::size_t end = host.rfind(']');
    if (end == std::string_view::npos) return error = "missing ']' in host", false;
    if (!IsValidPort(host.substr(end + 1)))
      return error = fmt::format("invalid port {} after host", meta::Quoted(host.substr(end + 1))), false;
  } else if (const std::size_t colon = host.rfind(':'); colon != std::string_view::npos) {
    if (!IsValidPort(host.substr(colon)))
      return error = fmt::format("invalid port {} after host", meta::Quoted(host.substr(colon))), false;
  }
  for (std::size_t i = 0; i < host.size(); ++i) {
    const char c = host[i];
    if (c == '%') {
      const bool ascii =
          i + 2 < host.size() && IsHex(host[i + 1]) && HexDigit(host[i + 1]) < 8 && host.substr(i, 3) != "%25";
      if (ascii || i + 2 >= host.size() || !IsHex(host[i + 1]) || !IsHex(host[i + 2]))
        return error = "invalid URL escape " + meta::Quoted(host.substr(i, 3)), false;
    } else if (static_cast<unsigned char>(c) < 0x80 && !IsUnreserved(c) && !IsOneOf(c, "!$&'()*+,;=:[]<>\"")) {
      return error = fmt::format("invalid character {} in host name", meta::Quoted(host.substr(i, 1))), false;
    }
  }
  return true;
}

bool SetAuthority(std::string_view authority, Url& url, std::string& error) {
  const std::size_t at = authority.rfind('@');
  if (at != std::string_view::npos) {
    url.user = authority.substr(0, at);
    url.has_user = true;
    authority.remove_prefix(at + 1);
    for (const char c : url.user) {
      if (!IsUnreserved(c) && !IsOneOf(c, ":@!$&'()*+,;=%")) return error = "net/url: invalid userinfo", false;
    }
    if (!DecodePercent(url.user, false, error)) return false;
  }
  if (!CheckHost(authority, error)) return false;
  url.host = authority;
  return true;
}

// Reads "scheme:" and returns the rest.
bool TakeScheme(std::string_view& text, Url& url, std::string& error) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (IsAlpha(c)) continue;
    if (IsDigit(c) || IsOneOf(c, "+-.")) {
      if (i == 0) return true;
      continue;
    }
    if (c != ':') return true;
    if (i == 0) return error = "missing protocol scheme", false;
    url.scheme = text.substr(0, i);
    std::transform(url.scheme.begin(), url.scheme.end(), url.scheme.begin(),
                   [](char upper) { return upper >= 'A' && upper <= 'Z' ? static_cast<char>(upper | 0x20) : upper; });
    text.remove_prefix(i + 1);
    return true;
  }
  return true;
}

std::optional<Url> Parse(std::string_view text, bool request, std::string& error) {
  Url url;
  const auto fail = [&](std::string why) {
    error = std::move(why);
    return std::optional<Url>();
  };
  if (std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }))
    return fail("net/url: invalid control character in URL");
  if (text.empty() && request) return fail("empty url");
  if (text == "*") {
    url.raw_path = "*";
    return url;
  }
  if (!TakeScheme(text, url, error)) return std::nullopt;
  const std::size_t question = text.find('?');
  url.force_query = question != std::string_view::npos && question + 1 == text.size();
  if (question != std::string_view::npos) {
    url.raw_query = text.substr(question + 1);
    text = text.substr(0, question);
  }
  if (!text.starts_with('/')) {
    if (!url.scheme.empty()) {
      url.opaque = text;
      return url;
    }
    if (request) return fail("invalid URI for request");
    if (text.substr(0, text.find('/')).find(':') != std::string_view::npos)
      return fail("first path segment in URL cannot contain colon");
  }
  if ((!url.scheme.empty() || (!request && !text.starts_with("///"))) && text.starts_with("//")) {
    const std::size_t slash = std::min(text.find('/', 2), text.size());
    if (!SetAuthority(text.substr(2, slash - 2), url, error)) return std::nullopt;
    text.remove_prefix(slash);
  }
  if (!DecodePercent(text, false, error)) return std::nullopt;
  url.raw_path = text;
  return url;
}

std::optional<Url> WithPrefix(std::optional<Url> url, std::string_view text, std::string& error) {
  if (!url) error = fmt::format("parse {}: {}", meta::Quoted(text), error);
  return url;
}

}  // namespace

std::optional<Url> ParseRequestUrl(std::string_view text, std::string& error) {
  return WithPrefix(Parse(text, true, error), text, error);
}

std::optional<Url> ParseUrl(std::string_view text, std::string& error) {
  const std::size_t hash = text.find('#');
  auto url = WithPrefix(Parse(text.substr(0, hash), false, error), text.substr(0, hash), error);
  if (url && hash != std::string_view::npos) url->fragment = text.substr(hash + 1);
  if (url && !DecodePercent(url->fragment, false, error)) return WithPrefix(std::nullopt, text, error);
  return url;
}

std::string Url::Hostname() const {
  if (host.starts_with('[')) return host.substr(1, host.rfind(']') - 1);
  return host.substr(0, host.rfind(':'));
}

std::string Url::Port() const {
  const std::size_t colon = host.rfind(':');
  if (colon == std::string::npos || (host.starts_with('[') && colon < host.rfind(']'))) return "";
  return host.substr(colon + 1);
}

std::string Url::EscapedPath() const {
  const bool valid = std::all_of(raw_path.begin(), raw_path.end(),
                                 [](char c) { return IsUnreserved(c) || IsOneOf(c, "!$&'()*+,;=:@[]%/"); });
  std::string error;
  return valid ? raw_path : EscapePath(DecodePercent(raw_path, false, error).value_or(raw_path));
}

std::vector<std::pair<std::string, std::vector<std::string>>> Url::Query() const {
  std::map<std::string, std::vector<std::string>> out;
  std::string_view rest = raw_query;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view pair = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (pair.empty() || pair.find(';') != std::string_view::npos) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    std::string error;
    auto key = DecodePercent(pair.substr(0, equals), true, error);
    auto value = DecodePercent(pair.substr(std::min(equals + 1, pair.size())), true, error);
    if (key && value) out[*key].push_back(*value);
  }
  return {out.begin(), out.end()};
}

std::string Url::ToString() const {
  std::string out = scheme.empty() ? "" : scheme + ":";
  if (!opaque.empty()) {
    out += opaque;
  } else {
    if (!scheme.empty() || !host.empty() || has_user) {
      if (!host.empty() || !raw_path.empty() || has_user) out += "//";
      if (has_user) out += user + "@";
      out += host;
    }
    out += EscapedPath();
  }
  if (force_query || !raw_query.empty()) out += "?" + raw_query;
  if (!fragment.empty()) out += "#" + fragment;
  return out;
}

}  // namespace apimesh::cel
