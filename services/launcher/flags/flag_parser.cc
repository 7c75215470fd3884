#include "services/launcher/flags/flag_parser.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/base/text/text.h"
#include "lib/meta/errors/field_error.h"
#include "services/launcher/flags/flag_value.h"

namespace apimesh::launcher {
namespace {

/// Returns whether kube-apiserver uses the default for an empty value.
bool EmptyMeansDefault(const Flag& flag) {
  return flag.type == FlagType::kIp || flag.type == FlagType::kPortRange || flag.name == "service-cluster-ip-range";
}

void Set(CommandLine& line, const Flag& flag, std::string value) {
  if (const std::string error = ValueError(flag, value); !error.empty()) {
    const std::string shown = flag.name == "v" ? "-v, --v" : fmt::format("--{}", flag.name);
    line.error = fmt::format("invalid argument {} for \"{}\" flag: {}", meta::Quoted(value), shown, error);
    return;
  }
  if (value.empty() && EmptyMeansDefault(flag)) return;
  line.given.emplace_back(&flag, std::move(value));
}

}  // namespace

const Flag* FindKubeApiserverFlag(std::string_view name) {
  const Flag* flag = flags::FindFlag(name);
  return flag && !(flag->services & flags::kMeshOnly) ? flag : nullptr;
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
    if (flag->type == FlagType::kStringArray || flag->type == FlagType::kCertificateAndKey ||
        flag->type == FlagType::kMetricLabels) {
      values.push_back(value);
    } else {
      for (std::string& part : SplitList(value)) values.push_back(std::move(part));
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
      "Example:\n  kube-apiserver --etcd-servers=http://127.0.0.1:2379 "
      "--service-account-issuer=https://kubernetes.default.svc \\\n"
      "    --service-account-key-file=sa.key --service-account-signing-key-file=sa.key\n";
  std::string_view section;
  for (const Flag& flag : flags::KubeApiserverFlags()) {
    if (flag.section != section) {
      section = flag.section;
      text += fmt::format("\n{} flags:\n\n", section);
    }
    std::string left = fmt::format("  {}--{}", flag.name == "v" ? "-v, " : "", flag.name);
    if (const std::string_view type = flags::TypeName(flag.type); !type.empty()) left += fmt::format(" {}", type);
    text += fmt::format("{:<50} {}", left, flag.help);
    if (flags::IsList(flag.type) && !flag.allowed.empty())
      text += fmt::format(": {}", fmt::join(flags::AllowedValues(flag), ", "));
    if (!flag.default_value.empty()) text += fmt::format(" (default {})", flag.default_value);
    if (flag.services == flags::kNobody) text += " [accepted, no effect yet]";
    text += '\n';
  }
  return text + fmt::format("{:<50} {}\n", "  -h, --help", "this text");
}

}  // namespace apimesh::launcher
