#include "services/launcher/commands/cli.h"

#include <unistd.h>

#include <CLI/CLI.hpp>

#include "services/launcher/commands/completion.h"
#include "services/launcher/commands/pki.h"
#include "services/launcher/commands/run_folder.h"
#include "services/launcher/commands/status.h"
#include "services/launcher/commands/up.h"
#include "services/launcher/mesh/kube_apiserver.h"
#include "services/launcher/mesh/mesh_plan.h"

namespace apimesh::launcher {
namespace {

/// `apimesh store …` is the store's own tool.
int RunStore(const std::vector<std::string>& arguments) {
  const std::string binary = OwnFolder() + "/store";
  std::vector<const char*> argv = {binary.c_str()};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  argv.push_back(nullptr);
  ::execv(binary.c_str(), const_cast<char**>(argv.data()));
  std::perror(binary.c_str());
  return 127;
}

}  // namespace

int RunCommandLine(int argc, char** argv) {
  CLI::App app("apimesh: the Kubernetes API as a mesh of processes.\n\n"
               "  ./apimesh up          build if needed, start everything, leave a kubeconfig\n"
               "  ./apimesh kubectl …   run kubectl against it\n"
               "  ./apimesh down        stop everything\n"
               "  ./apimesh test        run all tests");
  app.require_subcommand(1);
  std::string folder = DefaultRunFolder();
  int code = 0;
  const auto with_folder = [&](CLI::App* command) {
    command->add_option("--dir", folder, "folder of certificates, data, logs and the kubeconfig (default: $APIMESH_DIR or .apimesh)");
    return command;
  };

  UpOptions up;
  CLI::App* up_command = with_folder(app.add_subcommand("up", "Start the mesh: store, the four services, and Envoy if it is there"));
  up_command->add_option("--port", up.port, "HTTPS port for clients")->capture_default_str()->check(CLI::Range(1, 65535));
  up_command->add_option("--bind-address", up.bind_address, "address to listen on; 0.0.0.0 is every interface")->capture_default_str();
  up_command->add_option("--front-proxy", up.front_proxy, "auto: Envoy if it is found; envoy; none")
      ->capture_default_str()->check(CLI::IsMember({"auto", "envoy", "none"}));
  up_command->add_flag("--envoy-ext-authz", up.envoy_ext_authz,
                       "Envoy asks authn-authz about every request and refuses at the door");
  up_command->add_option("--etcd-servers", up.etcd_servers, "use this etcd instead of the embedded store");
  up_command->add_flag("--detach,-d", up.detach, "return when the mesh is ready and leave it running");
  up_command->add_option("flags", up.extra, "after --: kube-apiserver flags for the services, as in `up -- --event-ttl=5m`");
  up_command->callback([&] {
    up.folder = folder;
    code = Up(up);
  });

  with_folder(app.add_subcommand("down", "Stop the mesh, in order"))->callback([&] { code = Down(folder); });

  bool as_json = false;
  CLI::App* status = with_folder(app.add_subcommand("status", "Show what is up and on which ports"));
  status->add_flag("--json", as_json, "for programs");
  status->callback([&] { code = ShowStatus(folder, as_json); });

  std::string service;
  bool follow = false;
  CLI::App* logs = with_folder(app.add_subcommand("logs", "Show the logs of one service, or of all"));
  logs->add_option("service", service, "store, core-api, extensions-api, authn-authz, aggregator, envoy or launcher");
  logs->add_flag("-f,--follow", follow, "go on showing new lines");
  logs->callback([&] { code = Logs(folder, service, follow); });

  PkiOptions pki;
  CLI::App* pki_command = app.add_subcommand("pki", "Make the certificates of a mesh that Compose or Kubernetes starts");
  pki_command->add_option("--dir", pki.folder, "folder for the authorities, the kubeconfig, and one folder of certificates per process")->required();
  pki_command->add_option("--server", pki.server, "address of the API for clients")->capture_default_str();
  pki_command->add_option("--name", pki.names, "host name of a service; may be repeated");
  pki_command->add_option("--owner", pki.owner, "user id that shall read the files");
  pki_command->add_option("--aggregator", pki.aggregator, "host name where Envoy finds the aggregator")->capture_default_str();
  pki_command->add_option("--mounted-at", pki.mounted_at, "path at which Envoy sees its folder; default: envoy/ in --dir");
  pki_command->add_option("--ext-authz", pki.ext_authz,
                          "host:port of authn-authz: Envoy asks it about every request and refuses at the door");
  pki_command->callback([&] { code = MakePki(pki); });

  CLI::App* kubectl = app.add_subcommand("kubectl", "Run kubectl with the kubeconfig of this mesh")->prefix_command();
  kubectl->callback([&] { code = Kubectl(folder, kubectl->remaining()); });

  CLI::App* store = app.add_subcommand("store", "The embedded store's own commands: snapshot save, restore, import, export")->prefix_command();
  store->callback([&] { code = RunStore(store->remaining()); });

  app.add_subcommand("version", "Print the version")->callback([] {
    std::printf("apimesh %s (Kubernetes API %s)\n", APIMESH_VERSION, kKubernetesVersion);
  });

  std::string shell;
  CLI::App* completion = app.add_subcommand("completion", "Print a completion script: source <(./apimesh completion bash)");
  completion->add_option("shell", shell, "bash or zsh")->required()->check(CLI::IsMember({"bash", "zsh"}));
  completion->callback([&] { std::fputs(CompletionScript(shell).c_str(), stdout); });

  for (const char* name : {"build", "test", "bench", "deps"}) {
    app.add_subcommand(name, "See ./apimesh, the script at the root of the repository, which does this")->callback([&code, name] {
      std::fprintf(stderr, "apimesh: `%s` is done by the script ./apimesh in the repository\n", name);
      code = 1;
    });
  }
  CLI11_PARSE(app, argc, argv);
  return code;
}

}  // namespace apimesh::launcher
