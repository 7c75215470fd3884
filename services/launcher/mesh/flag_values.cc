#include "services/launcher/mesh/flag_values.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include "lib/base/text/duration.h"
#include "lib/base/text/format_duration.h"

namespace apimesh::launcher {

std::string ShownValue(const CommandLine& flags, const Flag& flag) {
  std::vector<std::string> values = flags.Values(flag.name);
  if (values.empty() && !flag.default_value.empty() && !flags.Has(flag.name))
    values = {std::string(flag.default_value)};
  switch (flag.type) {
    case FlagType::kStrings:
    case FlagType::kStringArray:
    case FlagType::kInts:
    case FlagType::kMetricLabels:
    case FlagType::kCertificateAndKey: return fmt::format("[{}]", fmt::join(values, ","));
    case FlagType::kMap:
    case FlagType::kPairs: return fmt::format("{}", fmt::join(values, ","));
    case FlagType::kDuration: {
      const std::string text = flags.Value(flag.name);
      const auto duration = ParseDuration(text);
      return duration ? FormatDuration(*duration) : text;
    }
    case FlagType::kVersion: {
      const std::string text = flags.Value(flag.name);
      return text.empty() ? "false" : text;
    }
    default: return flags.Value(flag.name);
  }
}

void WriteFlagValues(const CommandLine& flags, const std::string& file) {
  boost::json::object values;
  for (const Flag& flag : flags::KubeApiserverFlags()) {
    const std::string value = ShownValue(flags, flag);
    values[boost::json::string_view(flag.name.data(), flag.name.size())] = value;
  }
  const mode_t before = ::umask(0077);
  std::ofstream out(file, std::ios::trunc);
  ::umask(before);
  out << boost::json::serialize(values) << std::flush;
  if (!out) throw std::runtime_error(fmt::format("can't write {}: {}", file, std::strerror(errno)));
}

}  // namespace apimesh::launcher
