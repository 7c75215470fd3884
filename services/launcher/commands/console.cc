#include "services/launcher/commands/console.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>
#include <unistd.h>

#include "lib/base/secrets/one_time_secrets.h"
#include "services/launcher/inspect/port_owner.h"
#include "services/launcher/mesh/mesh_plan.h"

namespace apimesh::launcher {
namespace {

constexpr const char* kName = "console";
constexpr std::chrono::minutes kLoginLifetime{10};

std::string LoginFolder(const RunFolder& folder) { return folder.Root() + "/console-logins"; }

/// The built pages are beside the folder of the binaries, in a build as in a package.
std::string Pages() { return std::filesystem::path(OwnFolder()).parent_path().string() + "/console"; }

std::string Authority(const ConsoleOptions& options) {
  const bool v6 = options.address.find(':') != std::string::npos;
  return fmt::format("http://{}{}{}:{}", v6 ? "[" : "", options.address, v6 ? "]" : "", options.port);
}

void PrintUrl(const std::string& url) {
  fmt::print("\n  Console: {}\n  The link works once, within {} minutes; `apimesh console` prints a new one.\n\n", url,
             kLoginLifetime.count());
  std::fflush(stdout);
}

/// Replaces this process by the console.
int RunInForeground(const ConsoleOptions& options, const RunFolder& folder, const Clock& clock) {
  const ChildSpec spec = PlanConsole(options, folder, "");
  if (const std::optional<PortOwner> owner = FindPortOwner(options.address, options.port)) {
    fmt::print(stderr, "apimesh: port {} is already used by {}; choose another port with --port\n", options.port,
               owner->Describe());
    return 1;
  }
  PrintUrl(ConsoleUrl(folder, Authority(options), clock));
  fmt::print("  Ctrl-C ends the console.\n\n");
  std::fflush(stdout);
  std::vector<const char*> argv;
  for (const std::string& argument : spec.arguments) argv.push_back(argument.c_str());
  argv.push_back(nullptr);
  ::execv(argv[0], const_cast<char**>(argv.data()));
  fmt::print(stderr, "apimesh: {}: {}\n", argv[0], std::strerror(errno));
  return 127;
}

}  // namespace

ChildSpec PlanConsole(const ConsoleOptions& options, const RunFolder& folder, const std::string& log_file) {
  if (!std::filesystem::exists(Pages() + "/index.html")) {
    throw std::runtime_error(fmt::format(
        "the pages of the console are not built ({} is missing); `./apimesh console` in the repository builds them, "
        "which requires npm",
        Pages()));
  }
  ChildSpec spec;
  spec.name = kName;
  spec.arguments = {OwnFolder() + "/console",
                    "--console-address=" + options.address,
                    fmt::format("--console-port={}", options.port),
                    "--console-files=" + Pages(),
                    "--console-kubeconfig=" + (options.kubeconfig.empty() ? folder.Kubeconfig() : options.kubeconfig),
                    "--console-login-folder=" + LoginFolder(folder)};
  spec.log_file = log_file;
  spec.own_group = true;
  return spec;
}

std::string ConsoleUrl(const RunFolder& folder, const std::string& listens, const Clock& clock) {
  const OneTimeSecrets logins(LoginFolder(folder), kLoginLifetime);
  // Browsers do not send the part after # to any server.
  return fmt::format("{}/#login={}", listens, logins.Issue(clock.Now()));
}

int Console(const ConsoleOptions& options, const Clock& clock) {
  try {
    const RunFolder folder(options.folder);
    const std::optional<RunFolder::State> state = folder.Read();
    if (!state && options.kubeconfig.empty()) {
      fmt::print(stderr, "apimesh: no mesh runs in {}; start it first: ./apimesh up --detach\n", folder.Root());
      return 1;
    }
    for (std::size_t i = 0; state && i < state->processes.size(); ++i) {
      const RunFolder::Process& process = state->processes[i];
      if (process.name != kName) continue;
      PrintUrl(ConsoleUrl(folder, process.listens, clock));
      return 0;
    }
    return RunInForeground(options, folder, clock);
  } catch (const std::exception& error) {
    fmt::print(stderr, "apimesh: {}\n", error.what());
    return 1;
  }
}

}  // namespace apimesh::launcher
