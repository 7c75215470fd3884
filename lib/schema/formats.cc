#include "lib/schema/formats.h"

#include <arpa/inet.h>
#include <re2/re2.h>

#include <map>
#include <memory>
#include <string>

namespace apimesh::schema {
namespace {

bool IsIp(std::string_view text, int family) {
  char address[sizeof(in6_addr)];
  return inet_pton(family, std::string(text).c_str(), address) == 1;
}

bool IsCidr(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view bits = text.substr(slash + 1);
  if (bits.empty() || bits.size() > 3 || bits.find_first_not_of("0123456789") != std::string_view::npos) return false;
  if (bits.size() > 1 && bits[0] == '0') return false;
  const int length = std::stoi(std::string(bits));
  return (IsIp(text.substr(0, slash), AF_INET) && length <= 32) || (IsIp(text.substr(0, slash), AF_INET6) && length <= 128);
}

const std::map<std::string_view, std::unique_ptr<re2::RE2>>& Patterns() {
  static const auto* const patterns = [] {
    auto* made = new std::map<std::string_view, std::unique_ptr<re2::RE2>>;
    const std::pair<std::string_view, const char*> sources[] = {
        {"date-time", R"((?i)\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[t ]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?(z|[+-]([01]\d|2[0-3]):[0-5]\d))"},
        {"date", R"(\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01]))"},
        {"uuid", R"((?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12})"},
        {"uuid3", R"((?i)[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12})"},
        {"uuid4", R"((?i)[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12})"},
        {"uuid5", R"((?i)[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12})"},
        {"mac", R"((?i)([0-9a-f]{2}[:-]){5}[0-9a-f]{2}|([0-9a-f]{4}\.){2}[0-9a-f]{4})"},
        {"byte", R"(([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)"},
        {"hexcolor", R"((?i)#?([0-9a-f]{3}|[0-9a-f]{6}))"},
        {"hostname", R"((?i)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*)"},
        {"email", R"([^@\s<>]+@[^@\s<>]+)"},
        {"uri", R"((?i)([a-z][a-z0-9+.-]*:[^\s]+|/[^\s]*))"},
        {"duration", R"([+-]?((\d+(\.\d*)?|\.\d+)\s?(ns|us|µs|ms|s|m|h|d|w))+|0)"},
    };
    for (const auto& [name, source] : sources) made->emplace(name, std::make_unique<re2::RE2>(source, re2::RE2::Quiet));
    return made;
  }();
  return *patterns;
}

}  // namespace

bool HasFormat(std::string_view text, std::string_view format) {
  if (format == "ipv4") return IsIp(text, AF_INET);
  if (format == "ipv6") return IsIp(text, AF_INET6);
  if (format == "cidr") return IsCidr(text);
  const auto it = Patterns().find(format);
  return it == Patterns().end() || re2::RE2::FullMatch({text.data(), text.size()}, *it->second);
}

}  // namespace apimesh::schema
