#include "services/launcher/commands/up.h"

#include <fmt/format.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <stdexcept>

#include "lib/base/log.h"
#include "lib/base/resident_memory.h"
#include "services/launcher/commands/kubeconfig.h"
#include "services/launcher/commands/probe.h"
#include "services/launcher/commands/run_folder.h"
#include "services/launcher/commands/status.h"
#include "services/launcher/mesh/envoy_config.h"
#include "services/launcher/mesh/mesh_plan.h"
#include "services/launcher/options/advertise_address.h"
#include "services/launcher/options/check_options.h"
#include "services/launcher/pki/cluster_pki.h"
#include "services/launcher/process/supervisor.h"

namespace apimesh::launcher {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::hours kRenewEvery{24};
constexpr std::chrono::milliseconds kProbeEvery{20};

/// Envoy from $APIMESH_ENVOY (set by ./apimesh), or from PATH; empty if there is none.
std::string FindEnvoy() {
  if (const char* envoy = std::getenv("APIMESH_ENVOY"); envoy && ::access(envoy, X_OK) == 0) return envoy;
  const char* path = std::getenv("PATH");
  std::string_view left = path ? path : "";
  while (!left.empty()) {
    const std::size_t colon = std::min(left.find(':'), left.size());
    const std::string candidate = fmt::format("{}/envoy", left.substr(0, colon));
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    left.remove_prefix(std::min(colon + 1, left.size()));
  }
  return "";
}

/// Envoy inherits our limit of file descriptors, and needs some for the aggregator's side.
std::int64_t MaxEnvoyConnections() {
  const std::int64_t most = EnvoyOptions().max_connections;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return most;
  return std::min(most, static_cast<std::int64_t>(limit.rlim_cur / 4 * 3));
}

/// A log file that only its owner can read, opened for appending.
int OpenLog(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file >= 0) ::fchmod(file, 0600);  // also if it is there from an earlier run
  return file;
}

/// Everything that one `up` decides before it starts processes.
struct Run {
  RunFolder folder;
  ClusterPki pki;
  std::string sockets;
  std::string envoy;      // binary; empty: none
  int edge_port = 0;      // the aggregator's own TLS port
  std::string etcd_servers;
};

/// Where clients on this machine find the server.
std::string ServerUrl(const UpOptions& options) {
  return fmt::format("https://{}:{}", options.bind_address == "0.0.0.0" ? "127.0.0.1" : options.bind_address, options.port);
}

std::string Listens(const Run& run, const UpOptions& options, const std::string& name) {
  if (name == "envoy") return fmt::format("https://{}:{}", options.bind_address, options.port);
  if (name == "aggregator") return fmt::format("https://{}:{}", options.bind_address, run.edge_port);
  return fmt::format("unix:{}/{}.sock", run.sockets, name);
}

/// Whether the flags that the user added say which admission plugins run.
bool ChoosesNodeRestriction(const std::vector<std::string>& extra) {
  const CommandLine flags = ParseKubeApiserverFlags(extra);
  const std::vector<std::string> disabled = flags.Values("disable-admission-plugins");
  return flags.Has("admission-control") || std::find(disabled.begin(), disabled.end(), "NodeRestriction") != disabled.end();
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
      "--service-cluster-ip-range=10.96.0.0/12",
      "--allow-privileged=true",
      "--advertise-address=" + AdvertisedAddress(options.bind_address),
  };
  // The Node authorizer relies on this plugin: without it a node could read every Secret.
  if (!ChoosesNodeRestriction(options.extra)) flags.push_back("--enable-admission-plugins=NodeRestriction");
  flags.insert(flags.end(), options.extra.begin(), options.extra.end());
  return flags;
}

std::vector<ChildSpec> PlanAll(const Run& run, const UpOptions& options) {
  const CommandLine flags = ParseKubeApiserverFlags(ServiceFlags(run, options));
  if (!flags.error.empty()) throw std::runtime_error(flags.error);
  const Findings findings = CheckOptions(flags);
  for (const std::string& warning : findings.warnings) log::Warning("{}", warning);
  if (!findings.errors.empty()) throw std::runtime_error(Aggregate(findings.errors));
  const Places places{.binaries = OwnFolder(), .sockets = run.sockets, .logs = run.folder.Logs(), .own_groups = true};

  std::vector<ChildSpec> children;
  if (options.etcd_servers.empty()) {
    children.push_back({.name = "store",
                        .arguments = {places.binaries + "/store", "--data-dir=" + run.folder.Data(),
                                      "--listen-client-urls=" + run.etcd_servers},
                        .log_file = places.logs + "/store.log",
                        .own_group = true});
  }
  for (ChildSpec& spec : PlanServices(flags, places, !run.envoy.empty())) children.push_back(std::move(spec));
  if (!run.envoy.empty()) {
    const EnvoyOptions envoy{
        .listen_address = options.bind_address,
        .port = options.port,
        .cert_file = run.pki.Path("apiserver.crt"),
        .key_file = run.pki.Path("apiserver.key"),
        .client_ca_file = run.pki.Path("ca.crt"),
        .aggregator = FrontProxySocket(places),
        .aggregator_watches = FrontProxyH2Socket(places),
        .access_log = places.logs + "/envoy-access.log",
        .ext_authz = options.envoy_ext_authz ? fmt::format("unix:{}/authn-authz.sock", run.sockets) : "",
        .max_connections = MaxEnvoyConnections()};
    WriteFile(run.folder.EnvoyFile(), EnvoyConfig(envoy), true);
    ::close(OpenLog(envoy.access_log));  // Envoy would create it readable by everybody
    children.push_back({.name = "envoy",
                        .arguments = {run.envoy, "-c", run.folder.EnvoyFile(), "--concurrency", "2", "--disable-hot-restart",
                                      "--log-level", "warning"},
                        .log_file = places.logs + "/envoy.log",
                        .own_group = true});
  }
  return children;
}

/// Whether the server says that it is ready: to anybody, or to the administrator where anonymous requests are refused.
bool IsReady(const Run& run, const UpOptions& options) {
  const int status = HttpsStatus(options.bind_address, options.port, "/readyz");
  if (status != 401 && status != 403) return status == 200;
  const ClientCertificate administrator{run.pki.Path("admin.crt"), run.pki.Path("admin.key")};
  return HttpsStatus(options.bind_address, options.port, "/readyz", &administrator) == 200;
}

/// Runs the mesh in this process. `ready` is called once, when the server answers.
void Serve(const Run& run, const UpOptions& options, const std::function<void()>& ready) {
  Supervisor supervisor(PlanAll(run, options));
  bool is_ready = false;
  const auto began = steady_clock::now();
  auto renewed = began;

  const auto write_state = [&] {
    RunFolder::State state{::getpid(), ServerUrl(options), is_ready, {}};
    for (const Supervisor::Child& child : supervisor.Children()) {
      const auto age = std::chrono::duration_cast<std::chrono::seconds>(steady_clock::now() - child.started).count();
      state.processes.push_back({child.spec.name, child.pid, child.restarts, child.pid ? std::time(nullptr) - age : 0,
                                 Listens(run, options, child.spec.name)});
    }
    run.folder.Write(state);
  };
  supervisor.OnChange(write_state);
  supervisor.OnTick(kProbeEvery, [&] {
    if (!is_ready) {
      if (!IsReady(run, options)) return;
      is_ready = true;
      log::Info("ready after {} ms", std::chrono::duration_cast<std::chrono::milliseconds>(steady_clock::now() - began).count());
      write_state();
      ready();
      ReleaseIdlePages();
      supervisor.TickEvery(std::chrono::minutes(1));
    } else if (steady_clock::now() - renewed > kRenewEvery) {
      renewed = steady_clock::now();
      // Services read their certificates again when the files change.
      for (const std::string& name : run.pki.Ensure({})) log::Info("renewed the certificate {}", name);
    }
  });
  supervisor.Run();
}

Run Prepare(const UpOptions& options) {
  Run run{.folder = RunFolder(options.folder), .pki = ClusterPki(RunFolder(options.folder).Pki())};
  if (!run.folder.Lock()) {
    throw std::runtime_error(fmt::format("a mesh already runs in {}; see `apimesh status`, or choose another --dir", run.folder.Root()));
  }
  run.pki.Ensure({FirstAddress()});
  if (options.front_proxy != "none") run.envoy = FindEnvoy();
  if (options.front_proxy == "envoy" && run.envoy.empty()) {
    throw std::runtime_error("--front-proxy=envoy: no envoy found; `./apimesh deps` installs it, or use --front-proxy=none");
  }
  run.edge_port = run.envoy.empty() ? options.port : FreePort();
  run.sockets = MakeSocketFolder();
  run.etcd_servers = options.etcd_servers.empty() ? fmt::format("unix://{}/store.sock", run.sockets) : options.etcd_servers;
  WriteKubeconfig(run.folder.Kubeconfig(), ServerUrl(options), run.pki);
  return run;
}

/// Starts a copy of this process in the background and waits until it is ready or gone.
int Detach(const UpOptions& options) {
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) throw std::runtime_error("pipe failed");
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setsid();
    ::close(pipe[0]);
    int code = 0;
    try {
      const Run run = Prepare(options);
      const int log_file = OpenLog(run.folder.Logs() + "/launcher.log");
      ::dup2(log_file, STDERR_FILENO);
      ::dup2(log_file, STDOUT_FILENO);
      Serve(run, options, [&] { [[maybe_unused]] const ssize_t n = ::write(pipe[1], "R", 1); });
      RemoveSocketFolder(run.sockets);
    } catch (const std::exception& error) {
      fmt::print(stderr, "apimesh: {}\n", error.what());
      code = 1;
    }
    ::_exit(code);
  }
  ::close(pipe[1]);
  char byte = 0;
  const bool ready = ::read(pipe[0], &byte, 1) == 1;
  if (!ready) {
    fmt::print(stderr, "apimesh: the mesh did not come up; see {}/logs\n", RunFolder(options.folder).Root());
    return 1;
  }
  return ShowStatus(options.folder, false);
}

}  // namespace

int Up(const UpOptions& options) {
  log::Init("launcher", log::Format::kText, log::Level::kInfo);
  try {
    if (options.detach) return Detach(options);
    const Run run = Prepare(options);
    Serve(run, options, [&] { ShowStatus(options.folder, false); });
    RemoveSocketFolder(run.sockets);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "apimesh: {}\n", error.what());
    return 1;
  }
}

}  // namespace apimesh::launcher
