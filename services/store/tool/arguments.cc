#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "services/store/tool/commands.h"

namespace apimesh::store::tool {

Arguments Arguments::Parse(const std::vector<std::string>& words, const std::vector<std::string>& known) {
  Arguments arguments;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with("--")) {
      arguments.positional.push_back(words[i]);
      continue;
    }
    const std::size_t equals = words[i].find('=');
    const std::string name = words[i].substr(2, equals == std::string::npos ? equals : equals - 2);
    if (std::ranges::find(known, name) == known.end()) throw std::invalid_argument("unknown flag: --" + name);
    if (equals != std::string::npos) {
      arguments.flags[name] = words[i].substr(equals + 1);
    } else {
      if (i + 1 == words.size()) throw std::invalid_argument("flag needs a value: --" + name);
      arguments.flags[name] = words[++i];
    }
  }
  return arguments;
}

std::string Arguments::Get(const std::string& flag, const std::string& fallback) const {
  const auto found = flags.find(flag);
  return found == flags.end() ? fallback : found->second;
}

std::string Arguments::Require(const std::string& flag) const {
  const auto found = flags.find(flag);
  if (found == flags.end()) throw std::invalid_argument("--" + flag + " is required");
  return found->second;
}

std::unique_ptr<Progress> ShowProgress(std::string task, std::uint64_t total, const Clock& clock) {
  return std::make_unique<Progress>(
      Progress::Options{.task = std::move(task), .total = total, .terminal = Progress::IsTerminal(stderr)}, clock);
}

void RequireEmptyFolder(const std::string& folder) {
  if (std::filesystem::exists(folder) && !std::filesystem::is_empty(folder)) {
    throw std::invalid_argument("the data folder " + folder + " is not empty");
  }
}

}  // namespace apimesh::store::tool
