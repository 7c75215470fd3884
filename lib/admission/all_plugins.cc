#include "lib/admission/all_plugins.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "lib/admission/plugins/namespace_lifecycle/namespace_lifecycle.h"

namespace apimesh::admission {
namespace {

enum class OnByDefault { kNo, kYes };
struct PluginEntry {
  std::string_view name;
  std::unique_ptr<Plugin> (*make)(const PluginInputs& inputs);
  OnByDefault on;
};

// Run order, top to bottom; webhooks and quota stay last.
constexpr PluginEntry kPlugins[] = {
    {"NamespaceLifecycle", &MakeNamespaceLifecycle, OnByDefault::kYes},  // first: refuse writes into a dying namespace
};

bool Contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void CheckKnown(const std::vector<std::string>& names, std::string_view flag) {
  const std::vector<std::string> all = AllPluginNames();
  for (const std::string& name : names) {
    if (!Contains(all, name)) throw std::invalid_argument(fmt::format("{} plugin \"{}\" is unknown", flag, name));
  }
}

}  // namespace

std::vector<std::string> AllPluginNames() {
  std::vector<std::string> names;
  for (const PluginEntry& entry : kPlugins) names.emplace_back(entry.name);
  return names;
}

ChainPtr MakeChain(const PluginInputs& inputs, const PluginChoice& choice) {
  CheckKnown(choice.enable, "enable-admission-plugins");
  CheckKnown(choice.disable, "disable-admission-plugins");
  std::vector<std::unique_ptr<Plugin>> plugins;
  for (const PluginEntry& entry : kPlugins) {
    const bool on = (entry.on == OnByDefault::kYes || Contains(choice.enable, entry.name)) && !Contains(choice.disable, entry.name);
    if (on) plugins.push_back(entry.make(inputs));
  }
  return std::make_shared<const Chain>(std::move(plugins));
}

}  // namespace apimesh::admission
