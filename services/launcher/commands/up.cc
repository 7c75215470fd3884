#include "services/launcher/commands/up.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/log.h"
#include "lib/base/resident_memory.h"
#include "services/launcher/commands/choose_mesh.h"
#include "services/launcher/commands/console.h"
#include "services/launcher/commands/kubeconfig.h"
#include "services/launcher/commands/status.h"
#include "services/launcher/inspect/port_owner.h"
#include "services/launcher/inspect/probe.h"
#include "services/launcher/inspect/programs.h"
#include "services/launcher/inspect/run_folder.h"
#include "services/launcher/mesh/envoy_config.h"
#include "services/launcher/mesh/flag_values.h"
#include "services/launcher/mesh/mesh_plan.h"
#include "services/launcher/options/advertise_address.h"
#include "services/launcher/options/check_options.h"
#include "services/launcher/pki/cluster_pki.h"
#include "services/launcher/process/supervisor.h"
#include "services/launcher/shards/shards.h"
#include "services/launcher/shards/unix_socket.h"

namespace apimesh::launcher {
namespace {

constexpr std::chrono::hours kRenewEvery{24};
constexpr std::chrono::milliseconds kProbeEvery{20};
constexpr int kReportEvery = 10'000;  // milliseconds
/// The message of a mesh in the background to the process that started it: this, or why it did not start.
constexpr const char* kReady = "ready";

/// Returns the limit of client connections. Envoy inherits the launcher's limit of file descriptors and needs some of
/// them for connections to the aggregator.
std::int64_t MaxEnvoyConnections() {
  const std::int64_t most = EnvoyOptions().max_connections;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return most;
  return std::min(most, static_cast<std::int64_t>(limit.rlim_cur / 4 * 3));
}

/// Opens a log file for appending, readable only by its owner.
int OpenLog(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file >= 0) ::fchmod(file, 0600);  // the file may exist from an earlier run with another mode
  return file;
}

/// The settings of one `up`, which are determined before it starts processes.
struct Run {
  RunFolder folder;
  ClusterPki pki;
  std::string sockets;
  std::string envoy;  // path of the binary; empty: no Envoy
  int edge_port = 0;  // the aggregator's own TLS port
  std::string etcd_servers;
};

/// Returns the URL of the server for clients on this machine.
std::string ServerUrl(const UpOptions& options) {
  return fmt::format("https://{}:{}", options.bind_address == "0.0.0.0" ? "127.0.0.1" : options.bind_address,
                     options.port);
}

std::string Listens(const Run& run, const UpOptions& options, const ChildSpec& child) {
  const std::string& name = child.name;
  const std::string_view flag = "--listen=";
  for (const std::string& argument : child.arguments) {
    if (argument.starts_with(flag)) return argument.substr(flag.size());
  }
  if (name == "envoy") return fmt::format("https://{}:{}", options.bind_address, options.port);
  if (name == "aggregator") return fmt::format("https://{}:{}", options.bind_address, run.edge_port);
  if (name == "console") return fmt::format("http://127.0.0.1:{}", options.console_port);
  return fmt::format("unix:{}/{}.sock", run.sockets, name);
}

/// Returns whether the user's flags determine whether NodeRestriction runs.
bool ChoosesNodeRestriction(const std::vector<std::string>& extra) {
  const CommandLine flags = ParseKubeApiserverFlags(extra);
  const std::vector<std::string> disabled = flags.Values("disable-admission-plugins");
  return flags.Has("admission-control") ||
         std::find(disabled.begin(), disabled.end(), "NodeRestriction") != disabled.end();
}

std::vector<std::string> ServiceFlags(const Run& run, const UpOptions& options) {
  std::vector<std::string> flags = {
      "--etcd-servers=" + run.etcd_servers,
      "--bind-address=" + options.bind_address,
      fmt::format("--secure-port={}", run.edge_port),
      "--tls-cert-file=" + run.pki.Path("apiserver.crt"),
      "--tls-private-key-file=" + run.pki.Path("apiserver.key"),
      "--client-ca-file=" + run.pki.Path("ca.crt"),
      "--requestheader-client-ca-file=" + run.pki.Path("front-proxy-ca.crt"),
      "--requestheader-allowed-names=front-proxy-client",
      "--requestheader-username-headers=X-Remote-User",
      "--requestheader-group-headers=X-Remote-Group",
      "--requestheader-extra-headers-prefix=X-Remote-Extra-",
      "--proxy-client-cert-file=" + run.pki.Path("front-proxy-client.crt"),
      "--proxy-client-key-file=" + run.pki.Path("front-proxy-client.key"),
      "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
      "--service-account-key-file=" + run.pki.Path("sa.pub"),
      "--service-account-signing-key-file=" + run.pki.Path("sa.key"),
      "--authorization-mode=Node,RBAC",
      "--allow-privileged=true",  // kube-proxy and network plugins need it
      "--service-cluster-ip-range=10.96.0.0/12",
      "--advertise-address=" + AdvertisedAddress(options.bind_address),
  };
  // The Node authorizer relies on this plugin: without it a node could read every Secret.
  if (!ChoosesNodeRestriction(options.extra)) flags.push_back("--enable-admission-plugins=NodeRestriction");
  if (::access(run.folder.Descriptions().c_str(), R_OK) == 0)
    flags.push_back("--descriptions-file=" + run.folder.Descriptions());
  flags.insert(flags.end(), options.extra.begin(), options.extra.end());
  return flags;
}

Paths PathsOf(const Run& run) {
  return {
      .binaries = OwnFolder(), .sockets = run.sockets, .logs = run.folder.Logs(), .own_groups = true, .shards = true};
}

std::vector<ChildSpec> PlanAll(const Run& run, const UpOptions& options) {
  const CommandLine flags = ParseKubeApiserverFlags(ServiceFlags(run, options));
  if (!flags.error.empty()) throw std::runtime_error(flags.error);
  const Findings findings = CheckOptions(flags);
  for (const std::string& warning : findings.warnings) log::Warning("{}", warning);
  if (!findings.errors.empty()) throw std::runtime_error(Aggregate(findings.errors));
  const Paths paths = PathsOf(run);
  std::vector<ChildSpec> children;
  if (options.etcd_servers.empty()) {
    children.push_back({.name = "store",
                        .arguments = {paths.binaries + "/store", "--data-dir=" + run.folder.Data(),
                                      "--listen-client-urls=" + run.etcd_servers},
                        .log_file = paths.logs + "/store.log",
                        .own_group = true});
  }
  WriteFlagValues(flags, FlagValuesFile(paths));
  for (ChildSpec& spec : PlanServices(flags, paths, !run.envoy.empty())) children.push_back(std::move(spec));
  if (!run.envoy.empty()) {
    const EnvoyOptions envoy{
        .listen_address = options.bind_address,
        .port = options.port,
        .secrets_folder = run.folder.Root(),
        .cert_file = run.pki.Path("apiserver.crt"),
        .key_file = run.pki.Path("apiserver.key"),
        .client_ca_file = run.pki.Path("ca.crt"),
        .aggregator = FrontProxySocket(paths),
        .aggregator_watches = FrontProxyH2Socket(paths),
        .access_log = paths.logs + "/envoy-access.log",
        .ext_authz = options.envoy_ext_authz ? fmt::format("unix:{}/authn-authz.sock", run.sockets) : "",
        .max_connections = MaxEnvoyConnections()};
    WriteFile(run.folder.EnvoyFile(), EnvoyConfig(envoy), true);
    for (const auto& [name, text] : EnvoySecrets(envoy)) WriteFile(run.folder.Root() + "/" + name, text, true);
    ::close(OpenLog(envoy.access_log));  // Envoy would create it world-readable
    children.push_back({.name = "envoy",
                        .arguments = {run.envoy, "-c", run.folder.EnvoyFile(), "--concurrency", "2",
                                      "--disable-hot-restart", "--log-level", "warning"},
                        .log_file = paths.logs + "/envoy.log",
                        .own_group = true});
  }
  if (options.console) {
    ConsoleOptions console;
    console.port = options.console_port;
    children.push_back(PlanConsole(console, run.folder, paths.logs + "/console.log"));
  }
  return children;
}

/// Returns whether /readyz succeeds: anonymously, or with the administrator's certificate if anonymous requests are
/// refused.
bool IsReady(const Run& run, const UpOptions& options) {
  const int status = HttpsStatus(options.bind_address, options.port, "/readyz");
  if (status != 401 && status != 403) return status == 200;
  const ClientCertificate administrator{run.pki.Path("admin.crt"), run.pki.Path("admin.key")};
  return HttpsStatus(options.bind_address, options.port, "/readyz", &administrator) == 200;
}

/// Returns the children that can have shards, by the names of their programs.
std::map<std::string, ChildSpec> Scalable(const std::vector<ChildSpec>& children) {
  std::map<std::string, ChildSpec> scalable;
  for (const ChildSpec& child : children) {
    if (child.name == "core-api" || child.name == "extensions-api") scalable[child.name] = child;
  }
  return scalable;
}

/// Handles a line that `apimesh scale` has sent, and returns the response.
std::string HandleScale(shards::Shards& shards, const std::string& line) {
  const std::vector<shards::ScaledGroup> asked = shards::ReadLayout(line);
  if (asked.size() != 1) return "the request is not understood";
  return shards.Scale(asked[0].group, asked[0].process, asked[0].replicas);
}

/// Runs the mesh in this process. `ready` is called once, when the server is ready.
void Serve(const Run& run, const UpOptions& options, const Clock& clock, const std::function<void()>& ready) {
  const std::vector<ChildSpec> children = PlanAll(run, options);
  Supervisor supervisor(children, clock);
  shards::Shards shards(supervisor, Scalable(children), PathsOf(run), run.folder.Layout(), clock);
  const shards::ControlSocket control(run.sockets + "/control.sock");
  bool is_ready = false;
  const auto began = clock.Steady();
  auto renewed = began;

  const auto write_state = [&] {
    RunFolder::State state{::getpid(), ServerUrl(options), is_ready, {}};
    for (const Supervisor::Child& child : supervisor.Children()) {
      const auto age = std::chrono::duration_cast<std::chrono::seconds>(clock.Steady() - child.started).count();
      state.processes.push_back({child.spec.name, child.pid, child.restarts,
                                 child.pid ? std::chrono::system_clock::to_time_t(clock.Now()) - age : 0,
                                 Listens(run, options, child.spec)});
    }
    state.control = control.Path();
    for (const shards::ScaledGroup& one : shards.Layout())
      state.groups.push_back({one.group, one.process, one.replicas, one.ready});
    run.folder.Write(state);
  };
  const auto tick_shards = [&] {
    shards.Tick();
    write_state();
    supervisor.TickEvery(shards.Busy() ? shards::Shards::kTick : std::chrono::milliseconds(std::chrono::minutes(1)));
  };
  supervisor.OnReadable(control.File(), [&] {
    control.Serve([&](const std::string& line) { return HandleScale(shards, line); });
    if (is_ready) supervisor.TickSoon();
  });
  supervisor.OnChange(write_state);
  supervisor.OnTick(kProbeEvery, [&] {
    if (!is_ready) {
      if (!IsReady(run, options)) return;
      is_ready = true;
      log::Info("ready after {} ms",
                std::chrono::duration_cast<std::chrono::milliseconds>(clock.Steady() - began).count());
      write_state();
      ready();
      ReleaseIdlePages();
      tick_shards();
      return;
    }
    tick_shards();
    if (clock.Steady() - renewed > kRenewEvery) {
      renewed = clock.Steady();
      // The services reload their certificates when the files change.
      const std::vector<std::string> written = run.pki.Ensure({FirstAddress()});
      for (const std::string& name : written) log::Info("renewed the certificate {}", name);
      // The kubeconfig contains the certificate of the administrator.
      if (!written.empty()) WriteKubeconfig(run.folder.Kubeconfig(), ServerUrl(options), run.pki);
    }
  });
  supervisor.Run();
}

Run Prepare(const UpOptions& options) {
  Run run{.folder = RunFolder(options.folder), .pki = ClusterPki(RunFolder(options.folder).Pki())};
  if (!run.folder.Lock()) {
    throw std::runtime_error(
        fmt::format("a mesh already runs in {}; see `apimesh status`, or choose another --dir", run.folder.Root()));
  }
  run.pki.Ensure({FirstAddress()});
  if (options.front_proxy != "none") run.envoy = FindEnvoy();
  if (options.front_proxy == "envoy" && run.envoy.empty()) {
    throw std::runtime_error(
        "--front-proxy=envoy: no envoy found; `./apimesh deps` installs it, or use --front-proxy=none");
  }
  run.edge_port = run.envoy.empty() ? options.port : FreePort();
  run.sockets = MakeSocketFolder();
  LinkRunFolder(run.sockets, run.folder.Root());
  run.etcd_servers =
      options.etcd_servers.empty() ? fmt::format("unix://{}/store.sock", run.sockets) : options.etcd_servers;
  WriteKubeconfig(run.folder.Kubeconfig(), ServerUrl(options), run.pki);
  return run;
}

/// Throws if the port for clients, or that of the console, is taken. Otherwise the probe could be answered by the
/// process that has it.
void CheckPort(const UpOptions& options) {
  if (const std::optional<PortOwner> owner = FindPortOwner(options.bind_address, options.port)) {
    throw std::runtime_error(fmt::format(
        "port {} is already used by {}; stop it (`apimesh down` if it is a mesh), or choose another port with --port",
        options.port, owner->Describe()));
  }
  if (!options.console) return;
  if (const std::optional<PortOwner> owner = FindPortOwner("127.0.0.1", options.console_port)) {
    throw std::runtime_error(
        fmt::format("port {} of the console is already used by {}; choose another one with "
                    "--console-port",
                    options.console_port, owner->Describe()));
  }
}

/// Waits until `result` can be read, and says every 10 seconds that the mesh is not ready.
void ReportWaiting(int result, const UpOptions& options, const Clock& clock) {
  const SteadyTime began = clock.Steady();
  const RunFolder folder(options.folder);
  pollfd readable{result, POLLIN, 0};
  while (::poll(&readable, 1, kReportEvery) == 0) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(clock.Steady() - began).count();
    fmt::print(stderr,
               "apimesh: the mesh is not ready after {} s. {}The logs are in {}; to give up: ./apimesh down --dir {}\n",
               seconds,
               options.etcd_servers.empty() ? "" : fmt::format("Does etcd answer at {}? ", options.etcd_servers),
               folder.Logs(), folder.Root());
  }
}

/// Starts a copy of this process in the background and waits until it is ready or has ended.
int Detach(const UpOptions& options, const Clock& clock) {
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) throw std::runtime_error("pipe failed");
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setsid();
    ::close(pipe[0]);
    int code = 0;
    const auto tell = [&](const std::string& text) {
      [[maybe_unused]] const ssize_t n = ::write(pipe[1], text.data(), text.size());
    };
    try {
      const Run run = Prepare(options);
      const int log_file = OpenLog(run.folder.Logs() + "/launcher.log");
      ::dup2(log_file, STDERR_FILENO);
      ::dup2(log_file, STDOUT_FILENO);
      Serve(run, options, clock, [&] { tell(kReady); });
      RemoveSocketFolder(run.sockets);
    } catch (const std::exception& error) {
      tell(error.what());
      log::Error("{}", error.what());
      code = 1;
    }
    ::_exit(code);
  }
  ::close(pipe[1]);
  ReportWaiting(pipe[0], options, clock);
  char buffer[4096];
  const ssize_t size = ::read(pipe[0], buffer, sizeof buffer);
  const std::string told(buffer, static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  if (told != kReady) {
    fmt::print(stderr, "apimesh: the mesh did not start{}{}\nThe logs are in {}\n", told.empty() ? "" : ": ", told,
               RunFolder(options.folder).Logs());
    return 1;
  }
  return ShowStarted(options.folder, clock);
}

}  // namespace

int Up(const UpOptions& options, const Clock& clock) {
  log::Init("launcher", log::Format::kText, log::Level::kInfo, clock);
  try {
    CheckPort(options);
    if (options.detach) return Detach(options, clock);
    const Run run = Prepare(options);
    Serve(run, options, clock, [&] { ShowStarted(options.folder, clock); });
    RemoveSocketFolder(run.sockets);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "apimesh: {}\n", error.what());
    return 1;
  }
}

}  // namespace apimesh::launcher
