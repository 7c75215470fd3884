#include "services/launcher/commands/cli.h"

#include <algorithm>
#include <functional>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "lib/meta/kubernetes_version.h"
#include "services/launcher/commands/backup.h"
#include "services/launcher/commands/certs.h"
#include "services/launcher/commands/choose_mesh.h"
#include "services/launcher/commands/completion.h"
#include "services/launcher/commands/console.h"
#include "services/launcher/commands/pki.h"
#include "services/launcher/commands/scale.h"
#include "services/launcher/commands/status.h"
#include "services/launcher/commands/top.h"
#include "services/launcher/commands/up.h"
#include "services/launcher/doctor/doctor.h"
#include "services/launcher/inspect/probe.h"
#include "services/launcher/inspect/run_folder.h"
#include "services/launcher/mesh/kube_apiserver.h"
#include "services/launcher/mesh/mesh_plan.h"
#include "services/launcher/migration/migrate.h"
#include "services/launcher/shards/shards.h"
#include "services/launcher/usage/suggestions.h"
#include "services/launcher/usage/usage_error.h"

namespace apimesh::launcher {
namespace {

/// Runs `apimesh store …`, the store's own tool.
int RunStore(const std::vector<std::string>& arguments) {
  const std::string binary = OwnFolder() + "/store";
  std::vector<const char*> argv = {binary.c_str()};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  argv.push_back(nullptr);
  ::execv(binary.c_str(), const_cast<char**>(argv.data()));
  std::perror(binary.c_str());
  return 127;
}

std::vector<std::string> CommandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

/// Names an unknown command and those that may be meant. Returns the exit code.
int RefuseCommand(const std::string& word, const std::vector<std::string>& names) {
  const std::vector<std::string> similar = SimilarNames(word, names);
  fmt::print(stderr, "apimesh: there is no command \"{}\".", word);
  if (!similar.empty()) fmt::print(stderr, " Did you mean: {}?", fmt::join(similar, ", "));
  fmt::print(stderr, "\nAll commands: ./apimesh --help\n");
  return 2;
}

void AddMigrateOptions(CLI::App& command, MigrateOptions& options) {
  command.add_option("--from", options.from, "URL of the etcd of the kube-apiserver, which should be stopped")
      ->required();
  CLI::Option* in_place = command.add_flag("--in-place", options.in_place,
                                           "check only, because the mesh will use that etcd; nothing is written");
  command
      .add_option("--snapshot", options.snapshot,
                  "write the data to this file, for another etcd cluster, instead of the folder of a mesh")
      ->excludes(in_place);
  command.add_option("--etcd-cafile", options.ca_file, "certificates of the authorities of etcd");
  command.add_option("--etcd-certfile", options.cert_file, "client certificate for etcd");
  command.add_option("--etcd-keyfile", options.key_file, "key of the client certificate");
  command.add_option("--etcd-prefix", options.prefix, "prefix of the keys of the kube-apiserver")
      ->capture_default_str();
  command.add_option("--encryption-provider-config", options.encryption_config,
                     "the file with which the kube-apiserver encrypts objects");
  command.add_flag("--accept-problems", options.accept_problems,
                   "go on if objects cannot be read or would lose fields");
}

}  // namespace

int RunCommandLine(int argc, char** argv, const Clock& clock) {
  CLI::App app(
      "apimesh: the Kubernetes API as a mesh of processes.\n\n"
      "  ./apimesh up          build if needed, start everything, leave a kubeconfig\n"
      "  ./apimesh kubectl …   run kubectl against it\n"
      "  ./apimesh down        stop everything\n"
      "  ./apimesh test        run all tests");
  app.require_subcommand(1);
  app.failure_message(&UsageError);
  std::string folder;
  int code = 0;
  const auto with_folder = [&](CLI::App* command) {
    command->add_option(
        "--dir", folder,
        "folder of certificates, data, logs and the kubeconfig (default: $APIMESH_DIR or .apimesh; commands other "
        "than up find the mesh that is running)");
    return command;
  };
  const auto with_mesh = [&](const std::function<int(const std::string&)>& run) {
    const std::optional<std::string> chosen = ChooseMesh(folder);
    code = chosen ? run(*chosen) : 1;
  };

  UpOptions up;
  CLI::App* up_command =
      with_folder(app.add_subcommand("up", "Start the mesh: store, the four services, and Envoy if it is there"));
  up_command->add_option("--port", up.port, "HTTPS port for clients; 0: any free port, which the kubeconfig names")
      ->capture_default_str()
      ->check(CLI::Range(0, 65535));
  up_command->add_option("--bind-address", up.bind_address, "address to listen on; 0.0.0.0 is every interface")
      ->capture_default_str();
  up_command->add_option("--front-proxy", up.front_proxy, "auto: Envoy if it is found; envoy; none")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "envoy", "none"}));
  up_command->add_flag("--envoy-ext-authz", up.envoy_ext_authz,
                       "Envoy asks authn-authz about every request and rejects the ones that are not allowed");
  up_command->add_option("--etcd-servers", up.etcd_servers, "use this etcd instead of the embedded store");
  up_command->add_flag("--detach,-d", up.detach, "return when the mesh is ready and leave it running");
  up_command->add_flag("--console", up.console, "run the web console as well; `apimesh console` prints its URL");
  up_command->add_option("--console-port", up.console_port, "port of the web console on 127.0.0.1")
      ->capture_default_str()
      ->check(CLI::Range(1, 65535));
  up_command->add_option("flags", up.extra,
                         "after --: kube-apiserver flags for the services, as in `up -- --event-ttl=5m`");
  up_command->callback([&] {
    up.folder = folder.empty() ? DefaultRunFolder() : folder;
    if (up.port == 0) up.port = FreePort();
    code = Up(up, clock);
  });

  with_folder(app.add_subcommand("down", "Stop the mesh, in order"))->callback([&] { with_mesh(Down); });

  std::string output = "text";
  const auto with_output = [&](CLI::App* command) {
    command->add_option("-o,--output", output, "text, or json for programs")
        ->capture_default_str()
        ->check(CLI::IsMember({"text", "json"}));
    command->add_flag_callback("--json", [&] { output = "json"; }, "the same as --output json");
  };
  const auto as_json = [&] { return output == "json"; };
  CLI::App* status = with_folder(app.add_subcommand("status", "Show what is up and on which ports"));
  with_output(status);
  status->callback([&] { with_mesh([&](const std::string& chosen) { return ShowStatus(chosen, as_json(), clock); }); });

  TopOptions top;
  CLI::App* top_command =
      with_folder(app.add_subcommand("top", "Show the load of processes and API groups, again and again"));
  top_command->add_option("--interval", top.interval, "seconds between two readings")
      ->capture_default_str()
      ->check(CLI::Range(1, 3600));
  top_command->add_flag("--once", top.once, "print one interval and return");
  with_output(top_command);
  top_command->callback([&] {
    top.as_json = as_json();
    with_mesh([&](const std::string& chosen) {
      top.folder = chosen;
      return Top(top, clock);
    });
  });

  std::string group;
  int replicas = 1;
  CLI::App* scale = with_folder(
      app.add_subcommand("scale", "Give an API group its own processes, or give it back, while it is used"));
  scale->add_option("group", group, "API group, such as apps or example.com; core is the group without a name")
      ->required();
  scale->add_option("--replicas", replicas, "number of processes; 0 gives the group back to the common server")
      ->capture_default_str()
      ->check(CLI::Range(0, shards::kMaxReplicas));
  scale->callback([&] { with_mesh([&](const std::string& chosen) { return Scale(chosen, group, replicas, clock); }); });

  ConsoleOptions console;
  CLI::App* console_command =
      with_folder(app.add_subcommand("console", "Print a URL of the web console, and run it until Ctrl-C"));
  console_command->add_option("--port", console.port, "port of the console")
      ->capture_default_str()
      ->check(CLI::Range(1, 65535));
  console_command->add_option("--address", console.address, "loopback address to listen on")->capture_default_str();
  console_command->add_option("--kubeconfig", console.kubeconfig,
                              "credentials for the session of the URL (default: the kubeconfig of the mesh)");
  console_command->callback([&] {
    with_mesh([&](const std::string& chosen) {
      console.folder = chosen;
      return Console(console, clock);
    });
  });

  std::string service;
  bool follow = false;
  CLI::App* logs = with_folder(app.add_subcommand("logs", "Show the logs of one service, or of all"));
  logs->add_option("service", service,
                   "store, core-api, extensions-api, authn-authz, aggregator, envoy, console or launcher");
  logs->add_flag("-f,--follow", follow, "go on showing new lines");
  logs->callback([&] { with_mesh([&](const std::string& chosen) { return Logs(chosen, service, follow); }); });

  int port = up.port;
  CLI::App* doctor = with_folder(
      app.add_subcommand("doctor", "Check the machine and the mesh: ports, certificates, clock, disk, limits"));
  doctor->add_option("--port", port, "port to check if the mesh does not run")->capture_default_str();
  with_output(doctor);
  doctor->callback(
      [&] { with_mesh([&](const std::string& chosen) { return Doctor(chosen, port, as_json(), clock); }); });

  std::string file;
  CLI::App* backup = with_folder(app.add_subcommand("backup", "Save the data of a running mesh to a file"));
  backup->add_option("file", file, "a snapshot in etcd's format; it contains all secrets")->required();
  backup->callback([&] { with_mesh([&](const std::string& chosen) { return Backup(chosen, file); }); });
  CLI::App* restore =
      with_folder(app.add_subcommand("restore", "Replace the data of a stopped mesh by a backup; keeps the old data"));
  restore->add_option("file", file, "a file of `apimesh backup`, or a snapshot of etcd")->required();
  restore->callback([&] { code = Restore(folder.empty() ? DefaultRunFolder() : folder, file, clock); });

  MigrateOptions migrate;
  CLI::App* migrate_command = with_folder(app.add_subcommand(
      "migrate", "Take over the data of a kube-apiserver: copy it into a stopped mesh, and check every object"));
  AddMigrateOptions(*migrate_command, migrate);
  with_output(migrate_command);
  migrate_command->callback([&] {
    migrate.as_json = as_json();
    migrate.folder = folder.empty() ? DefaultRunFolder() : folder;
    code = Migrate(migrate, clock);
  });

  CLI::App* certs = app.add_subcommand("certs", "Show or rotate the certificates of a mesh");
  certs->require_subcommand(1);
  CLI::App* show = with_folder(certs->add_subcommand("show", "List the certificates and the time that is left"));
  with_output(show);
  show->callback([&] { with_mesh([&](const std::string& chosen) { return ShowCertificates(chosen, as_json()); }); });
  with_folder(certs->add_subcommand("rotate", "Replace all certificates but those of the authorities"))->callback([&] {
    with_mesh(RotateCertificates);
  });

  PkiOptions pki;
  CLI::App* pki_command =
      app.add_subcommand("pki", "Make the certificates of a mesh that Compose or Kubernetes starts");
  pki_command
      ->add_option("--dir", pki.folder,
                   "folder for the authorities, the kubeconfig, and one folder of certificates per process")
      ->required();
  pki_command->add_option("--server", pki.server, "address of the API for clients")->capture_default_str();
  pki_command->add_option("--name", pki.names, "host name of a service; may be repeated");
  pki_command->add_option("--owner", pki.owner, "user id that shall read the files");
  pki_command->add_option("--aggregator", pki.aggregator, "host name where Envoy finds the aggregator")
      ->capture_default_str();
  pki_command->add_option("--mounted-at", pki.mounted_at,
                          "path at which Envoy sees its folder; default: envoy/ in --dir");
  pki_command->add_option(
      "--ext-authz", pki.ext_authz,
      "host:port of authn-authz: Envoy asks it about every request and rejects the ones that are not allowed");
  pki_command->add_flag(
      "--envoy-only", pki.envoy_only,
      "write only the configuration of Envoy, for certificates at --mounted-at that cert-manager makes");
  pki_command->callback([&] { code = MakePki(pki); });

  CLI::App* kubectl =
      with_folder(app.add_subcommand("kubectl", "Run kubectl with the kubeconfig of this mesh"))->prefix_command();
  kubectl->callback(
      [&] { with_mesh([&](const std::string& chosen) { return Kubectl(chosen, kubectl->remaining()); }); });

  CLI::App* store =
      app.add_subcommand("store", "The embedded store's own commands: snapshot save, restore, import, export")
          ->prefix_command();
  store->callback([&] { code = RunStore(store->remaining()); });

  app.add_subcommand("version", "Print the version")->callback([] {
    std::printf("apimesh %s (Kubernetes API %s)\n", APIMESH_VERSION, meta::kKubernetesVersion.data());
  });

  std::string shell;
  CLI::App* completion =
      app.add_subcommand("completion", "Print a completion script: source <(./apimesh completion bash)");
  completion->add_option("shell", shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion->callback([&] { std::fputs(CompletionScript(shell, app).c_str(), stdout); });

  for (const char* name : {"build", "test", "bench", "deps", "envtest", "descriptions", "package"}) {
    app.add_subcommand(name, "See ./apimesh, the script at the root of the repository, which does this")
        ->callback([&code, name] {
          std::fprintf(stderr, "apimesh: `%s` is done by the script ./apimesh in the repository\n", name);
          code = 1;
        });
  }
  const std::vector<std::string> names = CommandNames(app);
  if (argc > 1 && argv[1][0] != '-' && std::find(names.begin(), names.end(), argv[1]) == names.end())
    return RefuseCommand(argv[1], names);
  CLI11_PARSE(app, argc, argv);
  return code;
}

}  // namespace apimesh::launcher
