#include "services/launcher/flags/flag_parser.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "lib/meta/field_error.h"

namespace apimesh::launcher {
namespace {

std::vector<std::string> SplitAtCommas(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    if (const std::string_view part = text.substr(0, comma); !part.empty()) parts.emplace_back(part);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return parts;
}

bool IsInteger(std::string_view text) {
  std::int64_t value = 0;
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

bool IsNumber(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

std::optional<std::string> NormalBool(std::string_view text) {
  for (const std::string_view yes : {"1", "t", "T", "true", "TRUE", "True"}) {
    if (text == yes) return "true";
  }
  for (const std::string_view no : {"0", "f", "F", "false", "FALSE", "False"}) {
    if (text == no) return "false";
  }
  return std::nullopt;
}

bool IsIp(const std::string& text) {
  unsigned char buffer[16];
  return inet_pton(AF_INET, text.c_str(), buffer) == 1 || inet_pton(AF_INET6, text.c_str(), buffer) == 1;
}

bool IsPortRange(std::string_view text) {
  const std::size_t separator = text.find_first_of("-+");
  if (separator == std::string_view::npos) return IsInteger(text);
  return IsInteger(text.substr(0, separator)) && IsInteger(text.substr(separator + 1));
}

bool ArePairs(std::string_view text) {
  for (const std::string& part : SplitAtCommas(text)) {
    if (part.empty() || part.front() == '=') return false;
  }
  return true;
}

/// What is wrong with a value; empty if nothing. Normalises booleans in place.
std::string Complaint(const Flag& flag, std::string& value) {
  switch (flag.type) {
    case FlagType::kBool:
      if (auto normal = NormalBool(value)) {
        value = *normal;
        return "";
      }
      return fmt::format("strconv.ParseBool: parsing {}: invalid syntax", meta::Quoted(value));
    case FlagType::kInt:
    case FlagType::kLevel:
      return IsInteger(value) ? "" : fmt::format("strconv.ParseInt: parsing {}: invalid syntax", meta::Quoted(value));
    case FlagType::kFloat:
      return IsNumber(value) ? "" : fmt::format("strconv.ParseFloat: parsing {}: invalid syntax", meta::Quoted(value));
    case FlagType::kDuration:
      return ParseGoDuration(value) ? "" : fmt::format("time: invalid duration {}", meta::Quoted(value));
    case FlagType::kIp: return IsIp(value) ? "" : fmt::format("failed to parse IP: {}", meta::Quoted(value));
    case FlagType::kPortRange: return IsPortRange(value) ? "" : fmt::format("unable to parse port range: {}", value);
    case FlagType::kPairs: return ArePairs(value) ? "" : fmt::format("malformed pair, expect string=string");
    default: return "";
  }
}

void Set(CommandLine& line, const Flag& flag, std::string value) {
  if (const std::string complaint = Complaint(flag, value); !complaint.empty()) {
    const std::string shown = flag.name == "v" ? "-v, --v" : fmt::format("--{}", flag.name);
    line.error = fmt::format("invalid argument {} for \"{}\" flag: {}", meta::Quoted(value), shown, complaint);
    return;
  }
  line.given.emplace_back(&flag, std::move(value));
}

}  // namespace

std::optional<std::int64_t> ParseGoDuration(std::string_view text) {
  if (text == "0") return 0;
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  if (text.empty()) return std::nullopt;
  double total = 0;
  while (!text.empty()) {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + digits, number);
    if (digits == 0 || error != std::errc() || end != text.data() + digits) return std::nullopt;
    text.remove_prefix(digits);
    const std::size_t letters = std::min(text.find_first_of("0123456789."), text.size());
    const std::string_view unit = text.substr(0, letters);
    if (unit == "h") total += number * 3600e9;
    else if (unit == "m") total += number * 60e9;
    else if (unit == "s") total += number * 1e9;
    else if (unit == "ms") total += number * 1e6;
    else if (unit == "us" || unit == "µs") total += number * 1e3;
    else if (unit == "ns") total += number;
    else return std::nullopt;
    text.remove_prefix(letters);
  }
  if (!(total < 9.2e18)) return std::nullopt;
  return static_cast<std::int64_t>(negative ? -total : total);
}

bool CommandLine::Has(std::string_view name) const {
  return std::any_of(given.begin(), given.end(), [&](const auto& one) { return one.first->name == name; });
}

std::string CommandLine::Value(std::string_view name) const {
  for (auto it = given.rbegin(); it != given.rend(); ++it) {
    if (it->first->name == name) return it->second;
  }
  const Flag* flag = FindKubeApiserverFlag(name);
  return flag ? std::string(flag->default_value) : "";
}

std::vector<std::string> CommandLine::Values(std::string_view name) const {
  std::vector<std::string> values;
  for (const auto& [flag, value] : given) {
    if (flag->name != name) continue;
    if (flag->type == FlagType::kStringArray) {
      values.push_back(value);
    } else {
      for (std::string& part : SplitAtCommas(value)) values.push_back(std::move(part));
    }
  }
  return values;
}

CommandLine ParseKubeApiserverFlags(const std::vector<std::string>& arguments) {
  CommandLine line;
  std::vector<std::string> positional;
  for (std::size_t i = 0; i < arguments.size() && line.error.empty(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "-h" || argument == "--help" || argument == "--help=true") {
      line.help = true;
      return line;
    }
    if (argument == "--") {
      positional.insert(positional.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end());
      break;
    }
    if (!argument.starts_with('-') || argument == "-") {
      positional.push_back(argument);
      continue;
    }
    std::string name;
    std::optional<std::string> value;
    if (argument.starts_with("--")) {
      const std::size_t equals = argument.find('=');
      name = argument.substr(2, equals == std::string::npos ? equals : equals - 2);
      std::replace(name.begin(), name.end(), '_', '-');
      if (equals != std::string::npos) value = argument.substr(equals + 1);
    } else if (argument[1] == 'v') {
      name = "v";
      if (argument.size() > 2) value = argument.substr(argument[2] == '=' ? 3 : 2);
    } else {
      line.error = fmt::format("unknown shorthand flag: '{}' in {}", argument[1], argument);
      break;
    }
    const Flag* flag = FindKubeApiserverFlag(name);
    if (!flag) {
      line.error = fmt::format("unknown flag: --{}", name);
      break;
    }
    if (!value && (flag->type == FlagType::kBool || flag->type == FlagType::kVersion)) value = "true";
    if (!value) {
      if (i + 1 >= arguments.size()) {
        line.error = fmt::format("flag needs an argument: --{}", name);
        break;
      }
      value = arguments[++i];
    }
    Set(line, *flag, std::move(*value));
  }
  if (line.error.empty() && !positional.empty()) {
    std::string shown;
    for (const std::string& one : positional) shown += (shown.empty() ? "" : " ") + meta::Quoted(one);
    line.error = fmt::format("\"kube-apiserver\" does not take any arguments, got [{}]", shown);
  }
  return line;
}

std::string KubeApiserverHelp() {
  std::string text =
      "apimesh as kube-apiserver: the Kubernetes API served by four processes (aggregator, core-api,\n"
      "extensions-api, authn-authz) against the etcd it is given. Takes kube-apiserver's flags.\n\n"
      "Usage:\n  kube-apiserver [flags]\n\n"
      "Example:\n  kube-apiserver --etcd-servers=http://127.0.0.1:2379 --service-account-issuer=https://kubernetes.default.svc \\\n"
      "    --service-account-key-file=sa.key --service-account-signing-key-file=sa.key\n";
  std::string_view section;
  for (const Flag& flag : KubeApiserverFlags()) {
    if (flag.section != section) {
      section = flag.section;
      text += fmt::format("\n{} flags:\n\n", section);
    }
    std::string left = fmt::format("  {}--{}", flag.name == "v" ? "-v, " : "", flag.name);
    if (const std::string_view type = TypeName(flag.type); !type.empty()) left += fmt::format(" {}", type);
    text += fmt::format("{:<50} {}", left, flag.help);
    if (!flag.default_value.empty()) text += fmt::format(" (default {})", flag.default_value);
    if (flag.services == kNobody) text += " [accepted, no effect yet]";
    text += '\n';
  }
  return text + fmt::format("{:<50} {}\n", "  -h, --help", "this text");
}

}  // namespace apimesh::launcher
