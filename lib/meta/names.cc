#include "lib/meta/names.h"

#include <stdexcept>

#include <fmt/format.h>
#include <openssl/rand.h>

namespace apimesh::meta {
namespace {

constexpr std::size_t kMaxLabel = 63;
constexpr std::size_t kMaxSubdomain = 253;
constexpr std::string_view kLabelPattern = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
constexpr std::string_view kSubdomainPattern = "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
constexpr std::string_view kQualifiedPattern = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsLetter(char c) { return IsLower(c) || (c >= 'A' && c <= 'Z'); }
bool IsLowerOrDigit(char c) { return IsLower(c) || IsDigit(c); }
bool IsLetterOrDigit(char c) { return IsLetter(c) || IsDigit(c); }

template <class Test>
bool All(std::string_view text, Test test) {
  for (const char c : text) {
    if (!test(c)) return false;
  }
  return true;
}

bool MatchesLabel(std::string_view text) {
  return !text.empty() && IsLowerOrDigit(text.front()) && IsLowerOrDigit(text.back()) &&
         All(text, [](char c) { return IsLowerOrDigit(c) || c == '-'; });
}

bool MatchesSubdomain(std::string_view text) {
  while (true) {
    const std::size_t dot = text.find('.');
    if (!MatchesLabel(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool MatchesQualifiedName(std::string_view text) {
  return !text.empty() && IsLetterOrDigit(text.front()) && IsLetterOrDigit(text.back()) &&
         All(text, [](char c) { return IsLetterOrDigit(c) || c == '-' || c == '_' || c == '.'; });
}

// kube-apiserver's newer checks say "bytes", its older ones "characters"; both count bytes.
std::string MaxBytesText(std::size_t length) { return fmt::format("must be no more than {} bytes", length); }

Complaints SubdomainComplaints(std::string_view text, std::string too_long) {
  Complaints complaints;
  if (text.size() > kMaxSubdomain) complaints.push_back(std::move(too_long));
  if (!MatchesSubdomain(text)) {
    complaints.push_back(PatternText(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
        "and end with an alphanumeric character",
        kSubdomainPattern, {"example.com"}));
  }
  return complaints;
}

void ComplainAboutParentFolders(std::string_view text, Complaints& complaints) {
  if (text == ".") {
    complaints.push_back("must not be '.'");
  } else if (text == "..") {
    complaints.push_back("must not be '..'");
  } else if (text.starts_with("..")) {
    complaints.push_back("must not start with '..'");
  }
}

// kube-apiserver checks a prefix that ends with a dash as if its last two characters were one 'a'.
std::string MaskTrailingDash(std::string_view name, bool prefix) {
  if (!prefix || name.size() < 2 || name.back() != '-') return std::string(name);
  return std::string(name.substr(0, name.size() - 2)) + "a";
}

}  // namespace

std::string MaxLengthText(std::size_t length) { return fmt::format("must be no more than {} characters", length); }

std::string PatternText(std::string_view message, std::string_view pattern, const std::vector<std::string>& examples) {
  if (examples.empty()) return fmt::format("{} (regex used for validation is '{}')", message, pattern);
  std::string out = fmt::format("{} (e.g. ", message);
  for (std::size_t i = 0; i < examples.size(); ++i) {
    if (i > 0) out += " or ";
    out += fmt::format("'{}', ", examples[i]);
  }
  return out + fmt::format("regex used for validation is '{}')", pattern);
}

Complaints CheckDnsSubdomain(std::string_view text) { return SubdomainComplaints(text, MaxLengthText(kMaxSubdomain)); }

Complaints CheckDnsLabel(std::string_view text) {
  Complaints complaints;
  if (text.size() > kMaxLabel) complaints.push_back(MaxLengthText(kMaxLabel));
  if (!MatchesLabel(text)) {
    complaints.push_back(
        MatchesSubdomain(text)
            ? "must not contain dots"
            : PatternText(
                  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must "
                  "start and end with an alphanumeric character",
                  kLabelPattern, {"my-name", "123-abc"}));
  }
  return complaints;
}

Complaints CheckDns1035Label(std::string_view text) {
  Complaints complaints;
  if (text.size() > kMaxLabel) complaints.push_back(MaxLengthText(kMaxLabel));
  if (!MatchesLabel(text) || !IsLower(text.front())) {
    complaints.push_back(
        PatternText("a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
                    "alphabetic character, "
                    "and end with an alphanumeric character",
                    "[a-z]([-a-z0-9]*[a-z0-9])?", {"my-name", "abc-123"}));
  }
  return complaints;
}

Complaints CheckQualifiedName(std::string_view text) {
  static const std::string kPatternText = PatternText(
      "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
      kQualifiedPattern, {"MyName", "my.name", "123-abc"});
  Complaints complaints;
  std::string_view name = text;
  if (const std::size_t slash = text.find('/'); slash != std::string_view::npos) {
    name = text.substr(slash + 1);
    if (name.find('/') != std::string_view::npos) {
      return {"a valid label key " + kPatternText +
              " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"};
    }
    const std::string_view prefix = text.substr(0, slash);
    if (prefix.empty()) {
      complaints.push_back("prefix part must be non-empty");
    } else {
      for (const std::string& one : SubdomainComplaints(prefix, MaxBytesText(kMaxSubdomain))) {
        complaints.push_back("prefix part " + one);
      }
    }
  }
  if (name.empty()) {
    complaints.push_back("name part must be non-empty");
  } else if (name.size() > kMaxLabel) {
    complaints.push_back("name part " + MaxBytesText(kMaxLabel));
  }
  if (!MatchesQualifiedName(name)) complaints.push_back("name part " + kPatternText);
  return complaints;
}

Complaints CheckLabelValue(std::string_view text) {
  Complaints complaints;
  if (text.size() > kMaxLabel) complaints.push_back(MaxBytesText(kMaxLabel));
  if (!text.empty() && !MatchesQualifiedName(text)) {
    complaints.push_back(
        PatternText("a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and "
                    "must start and end with an alphanumeric character",
                    fmt::format("({})?", kQualifiedPattern), {"MyValue", "my_value", "12345"}));
  }
  return complaints;
}

Complaints CheckPathSegment(std::string_view text, bool prefix) {
  if (!prefix && (text == "." || text == "..")) return {fmt::format("may not be '{}'", text)};
  Complaints complaints;
  for (const std::string_view bad : {"/", "%"}) {
    if (text.find(bad) != std::string_view::npos) complaints.push_back(fmt::format("may not contain '{}'", bad));
  }
  return complaints;
}

Complaints CheckConfigMapKey(std::string_view text) {
  Complaints complaints;
  if (text.size() > kMaxSubdomain) complaints.push_back(MaxLengthText(kMaxSubdomain));
  if (text.empty() || !All(text, [](char c) { return IsLetterOrDigit(c) || c == '-' || c == '.' || c == '_'; })) {
    complaints.push_back(PatternText("a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
                                     "[-._a-zA-Z0-9]+", {"key.name", "KEY_NAME", "key-name"}));
  }
  ComplainAboutParentFolders(text, complaints);
  return complaints;
}

Complaints CheckPortName(std::string_view text) {
  Complaints complaints;
  if (text.size() > 15) complaints.push_back(MaxLengthText(15));
  if (text.empty() || !All(text, [](char c) { return IsLowerOrDigit(c) || c == '-'; })) {
    complaints.push_back("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  }
  if (All(text, [](char c) { return !IsLower(c); })) complaints.push_back("must contain at least one letter (a-z)");
  if (text.find("--") != std::string_view::npos) complaints.push_back("must not contain consecutive hyphens");
  if (!text.empty() && (text.front() == '-' || text.back() == '-')) {
    complaints.push_back("must not begin or end with a hyphen");
  }
  return complaints;
}

Complaints CheckEnvVarName(std::string_view text) {
  if (text.empty()) return {"environment variable name must be non-empty"};
  if (All(text, [](char c) { return c >= 0x20 && c < 0x7f && c != '='; })) return {};
  return {"a valid environment variable name must consist only of printable ASCII characters other than '='"};
}

Complaints CheckPortNumber(std::int64_t port) {
  if (port >= 1 && port <= 65535) return {};
  return {"must be between 1 and 65535, inclusive"};
}

Complaints NameIsDnsSubdomain(std::string_view name, bool prefix) {
  return CheckDnsSubdomain(MaskTrailingDash(name, prefix));
}
Complaints NameIsDnsLabel(std::string_view name, bool prefix) { return CheckDnsLabel(MaskTrailingDash(name, prefix)); }
Complaints NameIsDns1035Label(std::string_view name, bool prefix) {
  return CheckDns1035Label(MaskTrailingDash(name, prefix));
}
Complaints NameIsPathSegment(std::string_view name, bool prefix) { return CheckPathSegment(name, prefix); }

std::uint64_t SecureRandomBits() {
  // A call of OpenSSL costs the same for many numbers as for one.
  thread_local struct {
    std::uint64_t numbers[64];
    std::size_t left = 0;
  } pool;
  if (pool.left == 0) {
    if (RAND_bytes(reinterpret_cast<unsigned char*>(pool.numbers), sizeof pool.numbers) != 1) {
      throw std::runtime_error("the system gives no random bytes");
    }
    pool.left = std::size(pool.numbers);
  }
  return pool.numbers[--pool.left];
}

std::string GenerateName(std::string_view base, const RandomBits& random) {
  constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string name(base.substr(0, 58));
  std::uint64_t bits = random();
  for (int i = 0; i < 5; ++i) {
    name += kAlphabet[bits % kAlphabet.size()];
    bits /= kAlphabet.size();
  }
  return name;
}

}  // namespace apimesh::meta
