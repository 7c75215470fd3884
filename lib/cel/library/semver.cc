#include <algorithm>
#include <charconv>

#include "lib/base/text/text.h"
#include "lib/cel/library/library.h"
#include "lib/meta/errors/field_error.h"

namespace apimesh::cel {
namespace {

using Args = std::span<const Value>;

struct Version {
  std::uint64_t numbers[3] = {};
  std::vector<std::string> pre_release, build;
};

bool IsNumeric(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}
bool IsAlphanumeric(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
  });
}

bool ReadNumber(std::string_view text, const char* name, std::uint64_t& out, std::string& error) {
  const std::string lower = LowerCase(name);
  if (!IsNumeric(text) && !text.empty())
    return error = fmt::format("Invalid character(s) found in {} number {}", lower, meta::Quoted(text)), false;
  if (text.size() > 1 && text[0] == '0')
    return error = fmt::format("{} number must not contain leading zeroes {}", name, meta::Quoted(text)), false;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (failure == std::errc()) return true;
  error = fmt::format("strconv.ParseUint: parsing {}: {}", meta::Quoted(text),
                      text.empty() ? "invalid syntax" : "value out of range");
  return false;
}

// The rules and texts of the semver package that kube-apiserver uses.
std::optional<Version> ParseVersion(std::string_view text, std::string& error) {
  if (text.empty()) return error = "Version string empty", std::nullopt;
  const std::size_t first = text.find('.'),
                    second = first == std::string_view::npos ? first : text.find('.', first + 1);
  if (second == std::string_view::npos) return error = "No Major.Minor.Patch elements found", std::nullopt;
  Version out;
  if (!ReadNumber(text.substr(0, first), "Major", out.numbers[0], error)) return std::nullopt;
  if (!ReadNumber(text.substr(first + 1, second - first - 1), "Minor", out.numbers[1], error)) return std::nullopt;
  std::string_view patch = text.substr(second + 1);
  std::optional<std::string_view> build, pre_release;
  if (const std::size_t plus = patch.find('+'); plus != std::string_view::npos) {
    build = patch.substr(plus + 1);
    patch = patch.substr(0, plus);
  }
  if (const std::size_t dash = patch.find('-'); dash != std::string_view::npos) {
    pre_release = patch.substr(dash + 1);
    patch = patch.substr(0, dash);
  }
  if (!ReadNumber(patch, "Patch", out.numbers[2], error)) return std::nullopt;
  for (const std::string_view part : pre_release ? Split(*pre_release, '.') : std::vector<std::string_view>()) {
    if (part.empty()) return error = "Prerelease is empty", std::nullopt;
    if (IsNumeric(part) && part.size() > 1 && part[0] == '0')
      return error = fmt::format("Numeric PreRelease version must not contain leading zeroes {}", meta::Quoted(part)),
             std::nullopt;
    if (!IsAlphanumeric(part))
      return error = fmt::format("Invalid character(s) found in prerelease {}", meta::Quoted(part)), std::nullopt;
    out.pre_release.emplace_back(part);
  }
  for (const std::string_view part : build ? Split(*build, '.') : std::vector<std::string_view>()) {
    if (part.empty()) return error = "Build meta data is empty", std::nullopt;
    if (!IsAlphanumeric(part))
      return error = fmt::format("Invalid character(s) found in build meta data {}", meta::Quoted(part)), std::nullopt;
    out.build.emplace_back(part);
  }
  return out;
}

// Removes "v" and leading zeros, and adds missing numbers.
std::optional<std::string> Normalize(std::string_view text, std::string& error) {
  if (text.starts_with('v')) text.remove_prefix(1);
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < 2 && text.find('.') != std::string_view::npos; ++i) {
    parts.emplace_back(text.substr(0, text.find('.')));
    text.remove_prefix(text.find('.') + 1);
  }
  parts.emplace_back(text);
  for (std::string& part : parts) {
    if (part.size() <= 1) continue;
    part.erase(0, std::min(part.find_first_not_of('0'), part.size()));
    if (part.empty() || part[0] < '0' || part[0] > '9') part.insert(0, "0");
  }
  if (parts.size() < 3 && parts.back().find_first_of("+-") != std::string::npos)
    return error = "short version cannot contain PreRelease/Build meta data", std::nullopt;
  parts.resize(3, "0");
  return fmt::format("{}.{}.{}", parts[0], parts[1], parts[2]);
}

int Order(std::uint64_t a, std::uint64_t b) { return a < b ? -1 : a > b ? 1 : 0; }

int ComparePart(const std::string& a, const std::string& b) {
  const bool left = IsNumeric(a), right = IsNumeric(b);
  if (left != right) return left ? -1 : 1;
  if (left && a.size() != b.size()) return Order(a.size(), b.size());
  return a < b ? -1 : a > b ? 1 : 0;
}

int Compare(const Version& a, const Version& b) {
  for (int i = 0; i < 3; ++i) {
    if (const int order = Order(a.numbers[i], b.numbers[i])) return order;
  }
  if (a.pre_release.empty() || b.pre_release.empty()) return Order(a.pre_release.empty(), b.pre_release.empty());
  for (std::size_t i = 0; i < std::min(a.pre_release.size(), b.pre_release.size()); ++i) {
    if (const int order = ComparePart(a.pre_release[i], b.pre_release[i])) return order;
  }
  return Order(a.pre_release.size(), b.pre_release.size());
}

class SemverValue : public Opaque {
 public:
  explicit SemverValue(Version version) : version(std::move(version)) {}
  std::string_view TypeName() const override { return "kubernetes.Semver"; }
  std::string_view Constructor() const override { return "semver"; }
  bool Equals(const Opaque& other) const override {
    return Compare(version, static_cast<const SemverValue&>(other).version) == 0;
  }
  std::string ToString() const override {
    std::string out = fmt::format("{}.{}.{}", version.numbers[0], version.numbers[1], version.numbers[2]);
    if (!version.pre_release.empty()) out += fmt::format("-{}", fmt::join(version.pre_release, "."));
    if (!version.build.empty()) out += fmt::format("+{}", fmt::join(version.build, "."));
    return out;
  }

  const Version version;
};

const Version& Of(const Value& value) { return static_cast<const SemverValue&>(value.AsOpaque()).version; }

std::optional<Version> Read(Args args, std::string& error) {
  if (args.size() == 1 || !args[1].AsBool()) return ParseVersion(args[0].AsString(), error);
  const auto text = Normalize(args[0].AsString(), error);
  return text ? ParseVersion(*text, error) : std::nullopt;
}

Value ToSemver(Args args, Arena& arena) {
  std::string error;
  auto version = Read(args, error);
  return version ? Value::Of(arena.NewOwned<SemverValue>(*std::move(version))) : Value::Error(arena, error);
}
Value IsSemver(Args args, Arena&) {
  std::string error;
  return Value::Bool(Read(args, error).has_value());
}
template <int kIndex>
Value Number(Args args, Arena&) {
  return Value::Int(static_cast<std::int64_t>(Of(args[0]).numbers[kIndex]));
}

}  // namespace

void AddSemver(Declarations& out) {
  const TypeRef v = Type::Object("kubernetes.Semver"), &s = Type::String(), &b = Type::Bool(), &i = Type::Int();
  out.Add("semver", {"string_to_semver", false, {s}, v, ToSemver});
  out.Add("semver", {"string_bool_to_semver", false, {s, b}, v, ToSemver});
  out.Add("isSemver", {"is_semver_string", false, {s}, b, IsSemver});
  out.Add("isSemver", {"is_semver_string_bool", false, {s, b}, b, IsSemver});
  out.Add("isGreaterThan", {"semver_is_greater_than", true, {v, v}, b, [](Args args, Arena&) {
                              return Value::Bool(Compare(Of(args[0]), Of(args[1])) > 0);
                            }});
  out.Add("isLessThan", {"semver_is_less_than", true, {v, v}, b, [](Args args, Arena&) {
                           return Value::Bool(Compare(Of(args[0]), Of(args[1])) < 0);
                         }});
  out.Add("compareTo", {"semver_compare_to", true, {v, v}, i, [](Args args, Arena&) {
                          return Value::Int(Compare(Of(args[0]), Of(args[1])));
                        }});
  out.Add("major", {"semver_major", true, {v}, i, Number<0>});
  out.Add("minor", {"semver_minor", true, {v}, i, Number<1>});
  out.Add("patch", {"semver_patch", true, {v}, i, Number<2>});
}

}  // namespace apimesh::cel
