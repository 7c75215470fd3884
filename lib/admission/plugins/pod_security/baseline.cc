#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/admission/plugins/pod_security/checks.h"

namespace apimesh::admission::pod_security {
namespace {

using meta::FindString;
using Values = std::set<std::string>;  // sorted, as in the messages

template <class List>
bool In(const List& list, std::string_view text) {
  return std::find(std::begin(list), std::end(list), text) != std::end(list);
}

/// Collects `securityContext.<profile>.type` of the pod and its containers where it is not allowed.
struct BadTypes {
  bool pod = false;
  Names containers;
  Values values;

  BadTypes(const PodView& view, std::string_view profile, bool (*allowed)(std::string_view type)) {
    const auto check = [&](const json::object& owner) {
      const json::object& context = SecurityContext(owner);
      const std::string_view type = FindString(context, profile, "type");
      if (!Has(context, profile) || allowed(type)) return false;
      values.emplace(type);
      return true;
    };
    pod = check(view.spec);
    ForEachContainer(view.spec, [&](const json::object& container) {
      if (check(container)) containers.push_back(NameOf(container));
    });
  }
};

Finding CheckAppArmor(const PodView& pod) {
  const BadTypes bad(pod, "appArmorProfile",
                     [](std::string_view type) { return type == "RuntimeDefault" || type == "Localhost"; });
  Values annotations;
  for (const auto& annotation : ObjectAt(pod.metadata, "annotations")) {
    const std::string_view key = annotation.key();
    if (!key.starts_with("container.apparmor.security.beta.kubernetes.io/") || !annotation.value().is_string())
      continue;
    const std::string_view profile = annotation.value().get_string();
    if (profile.empty() || profile == "runtime/default" || profile.starts_with("localhost/")) continue;
    annotations.insert(fmt::format("{}={}", key, meta::Quoted(profile)));
  }
  Names values(bad.values.begin(), bad.values.end());
  values.insert(values.end(), annotations.begin(), annotations.end());
  if (values.empty()) return {};
  std::string setters = Setters(bad.pod, bad.containers);
  if (!annotations.empty()) {
    setters += setters.empty() ? "" : " and ";
    setters += Plural("annotation", "annotations", annotations.size());
  }
  return {std::string(Plural("forbidden AppArmor profile", "forbidden AppArmor profiles", values.size())),
          fmt::format("{} must not set AppArmor profile type to {}", setters, Quote(values))};
}

Finding CheckCapabilities(const PodView& pod) {
  static constexpr std::string_view kDefault[] = {"AUDIT_WRITE", "CHOWN",  "DAC_OVERRIDE",     "FOWNER",  "FSETID",
                                                  "KILL",        "MKNOD",  "NET_BIND_SERVICE", "SETFCAP", "SETGID",
                                                  "SETPCAP",     "SETUID", "SYS_CHROOT"};
  Names containers;
  Values capabilities;
  ForEachContainer(pod.spec, [&](const json::object& container) {
    bool bad = false;
    for (const json::value& added : ListAt(ObjectAt(SecurityContext(container), "capabilities"), "add")) {
      const std::string_view name = added.is_string() ? std::string_view(added.get_string()) : std::string_view();
      if (In(kDefault, name)) continue;
      bad = true;
      capabilities.emplace(name);
    }
    if (bad) containers.push_back(NameOf(container));
  });
  if (containers.empty()) return {};
  return {"non-default capabilities", fmt::format("{} must not include {} in securityContext.capabilities.add",
                                                  Containers(containers), Quote(capabilities))};
}

Finding CheckHostNamespaces(const PodView& pod) {
  Names used;
  for (const char* field : {"hostNetwork", "hostPID", "hostIPC"}) {
    if (BoolAt(pod.spec, field).value_or(false)) used.push_back(fmt::format("{}=true", field));
  }
  if (used.empty()) return {};
  return {"host namespaces", fmt::format("{}", fmt::join(used, ", "))};
}

Finding CheckHostPathVolumes(const PodView& pod) {
  Names volumes;
  ForEach(pod.spec, "volumes", [&](const json::object& volume) {
    if (Has(volume, "hostPath")) volumes.push_back(NameOf(volume));
  });
  if (volumes.empty()) return {};
  return {"hostPath volumes", fmt::format("{} {}", Plural("volume", "volumes", volumes.size()), Quote(volumes))};
}

Finding CheckHostPorts(const PodView& pod) {
  Names containers;
  Values ports;
  ForEachContainer(pod.spec, [&](const json::object& container) {
    bool bad = false;
    ForEach(container, "ports", [&](const json::object& port) {
      const std::int64_t number = NumberAt(port, "hostPort").value_or(0);
      if (number == 0) return;
      bad = true;
      ports.insert(std::to_string(number));
    });
    if (bad) containers.push_back(NameOf(container));
  });
  if (containers.empty()) return {};
  return {"hostPort", fmt::format("{} {} {} {}", Containers(containers), Plural("uses", "use", containers.size()),
                                  Plural("hostPort", "hostPorts", ports.size()), fmt::join(ports, ", "))};
}

Finding CheckHostProbes(const PodView& pod) {
  Values containers, hosts;
  const auto check = [&](const json::object& container, const json::object& handler) {
    for (const char* action : {"httpGet", "tcpSocket"}) {
      const std::string_view host = FindString(handler, action, "host");
      if (host.empty()) continue;
      containers.insert(NameOf(container));
      hosts.emplace(host);
    }
  };
  ForEachContainer(pod.spec, [&](const json::object& container) {
    for (const char* probe : {"livenessProbe", "readinessProbe", "startupProbe"})
      check(container, ObjectAt(container, probe));
    for (const char* hook : {"postStart", "preStop"})
      check(container, ObjectAt(ObjectAt(container, "lifecycle"), hook));
  });
  if (containers.empty()) return {};
  return {"probe or lifecycle host",
          fmt::format("{} {} {} {}", Containers(Names(containers.begin(), containers.end())),
                      Plural("uses", "use", containers.size()),
                      Plural("probe or lifecycle host", "probe or lifecycle hosts", hosts.size()), Quote(hosts))};
}

Finding CheckPrivileged(const PodView& pod) {
  Names containers;
  ForEachContainer(pod.spec, [&](const json::object& container) {
    if (BoolAt(SecurityContext(container), "privileged").value_or(false)) containers.push_back(NameOf(container));
  });
  if (containers.empty()) return {};
  return {"privileged", fmt::format("{} must not set securityContext.privileged=true", Containers(containers))};
}

Finding CheckProcMountOfHostUsers(const PodView& pod) {
  // In a user namespace, an unmasked /proc gives no access to the host.
  if (!BoolAt(pod.spec, "hostUsers").value_or(true)) return {};
  return CheckProcMount(pod);
}

Finding CheckSeLinux(const PodView& pod, std::span<const std::string_view> allowed_types) {
  Values types;
  bool user = false, role = false;
  const auto is_bad = [&](const json::object& owner) {
    const json::object& options = ObjectAt(SecurityContext(owner), "seLinuxOptions");
    const std::string_view type = FindString(options, "type");
    const bool bad_type = !In(allowed_types, type);
    const bool has_user = !FindString(options, "user").empty(), has_role = !FindString(options, "role").empty();
    if (bad_type) types.emplace(type);
    user |= has_user;
    role |= has_role;
    return bad_type || has_user || has_role;
  };
  const bool bad_pod = is_bad(pod.spec);
  Names containers;
  ForEachContainer(pod.spec, [&](const json::object& container) {
    if (is_bad(container)) containers.push_back(NameOf(container));
  });
  if (!bad_pod && containers.empty()) return {};
  Names data;
  if (!types.empty()) data.push_back(fmt::format("{} {}", Plural("type", "types", types.size()), Quote(types)));
  if (user) data.emplace_back("user may not be set");
  if (role) data.emplace_back("role may not be set");
  return {"seLinuxOptions", fmt::format("{} set forbidden securityContext.seLinuxOptions: {}",
                                        Setters(bad_pod, containers), fmt::join(data, "; "))};
}

constexpr std::string_view kSeLinuxTypes[] = {"", "container_t", "container_init_t", "container_kvm_t",
                                              "container_engine_t"};
Finding CheckSeLinux0(const PodView& pod) { return CheckSeLinux(pod, std::span(kSeLinuxTypes).first(4)); }
Finding CheckSeLinux31(const PodView& pod) { return CheckSeLinux(pod, kSeLinuxTypes); }

/// The annotations that were used before the field existed.
Finding CheckSeccompAnnotations(const PodView& pod) {
  Values forbidden;
  const json::object& annotations = ObjectAt(pod.metadata, "annotations");
  const auto check = [&](const std::string& key) {
    const json::value* value = meta::FindField(annotations, key);
    if (!value || !value->is_string()) return;
    const std::string_view profile = value->get_string();
    if (profile == "runtime/default" || profile == "docker/default" || profile.starts_with("localhost/")) return;
    forbidden.insert(fmt::format("{}={}", key, meta::Quoted(profile)));
  };
  check("seccomp.security.alpha.kubernetes.io/pod");
  ForEachContainer(pod.spec, [&](const json::object& container) {
    check("container.seccomp.security.alpha.kubernetes.io/" + NameOf(container));
  });
  if (forbidden.empty()) return {};
  return {"seccompProfile", fmt::format("forbidden {} {}", Plural("annotation", "annotations", forbidden.size()),
                                        fmt::join(forbidden, ", "))};
}

Finding CheckSeccompFields(const PodView& pod) {
  const BadTypes bad(pod, "seccompProfile", &IsAllowedSeccompType);
  if (bad.values.empty()) return {};
  return {"seccompProfile", fmt::format("{} must not set securityContext.seccompProfile.type to {}",
                                        Setters(bad.pod, bad.containers), Quote(bad.values))};
}

constexpr std::array<std::string_view, 12> kSysctls = {
    "kernel.shm_rmid_forced",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.ping_group_range",
    "net.ipv4.ip_unprivileged_port_start",  // the first five: since 1.0
    "net.ipv4.ip_local_reserved_ports",     // since 1.27
    "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",  // since 1.29
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem"};  // since 1.32

template <std::size_t kAllowed>
Finding CheckSysctls(const PodView& pod) {
  const std::span<const std::string_view> allowed = std::span(kSysctls).first(kAllowed);
  Names forbidden;
  ForEach(SecurityContext(pod.spec), "sysctls", [&](const json::object& sysctl) {
    if (std::string name = NameOf(sysctl); !In(allowed, name)) forbidden.push_back(std::move(name));
  });
  if (forbidden.empty()) return {};
  return {"forbidden sysctls", fmt::format("{}", fmt::join(forbidden, ", "))};
}

Finding CheckWindowsHostProcess(const PodView& pod) {
  const auto is_bad = [](const json::object& owner) {
    return BoolAt(ObjectAt(SecurityContext(owner), "windowsOptions"), "hostProcess").value_or(false);
  };
  Names containers;
  ForEachContainer(pod.spec, [&](const json::object& container) {
    if (is_bad(container)) containers.push_back(NameOf(container));
  });
  const std::string setters = Setters(is_bad(pod.spec), containers);
  if (setters.empty()) return {};
  return {"hostProcess", setters + " must not set securityContext.windowsOptions.hostProcess=true"};
}

constexpr CheckVersion kAppArmor[] = {{0, &CheckAppArmor}};
constexpr CheckVersion kCapabilities[] = {{0, &CheckCapabilities}};
constexpr CheckVersion kHostNamespaces[] = {{0, &CheckHostNamespaces}};
constexpr CheckVersion kHostPathVolumes[] = {{0, &CheckHostPathVolumes}};
constexpr CheckVersion kHostPorts[] = {{0, &CheckHostPorts}};
constexpr CheckVersion kHostProbes[] = {{34, &CheckHostProbes}};
constexpr CheckVersion kPrivileged[] = {{0, &CheckPrivileged}};
constexpr CheckVersion kProcMount[] = {{0, &CheckProcMount}, {35, &CheckProcMountOfHostUsers}};
constexpr CheckVersion kSeLinux[] = {{0, &CheckSeLinux0}, {31, &CheckSeLinux31}};
constexpr CheckVersion kSeccomp[] = {{0, &CheckSeccompAnnotations}, {19, &CheckSeccompFields}};
constexpr CheckVersion kSysctlVersions[] = {
    {0, &CheckSysctls<5>}, {27, &CheckSysctls<6>}, {29, &CheckSysctls<10>}, {32, &CheckSysctls<12>}};
constexpr CheckVersion kWindowsHostProcess[] = {{0, &CheckWindowsHostProcess}};

constexpr Control kControls[] = {
    {"appArmorProfile", kAppArmor},      {"capabilities_baseline", kCapabilities},
    {"hostNamespaces", kHostNamespaces}, {"hostPathVolumes", kHostPathVolumes},
    {"hostPorts", kHostPorts},           {"hostProbesAndHostLifecycle", kHostProbes},
    {"privileged", kPrivileged},         {"procMount", kProcMount},
    {"seLinuxOptions", kSeLinux},        {"seccompProfile_baseline", kSeccomp},
    {"sysctls", kSysctlVersions},        {"windowsHostProcess", kWindowsHostProcess},
};

}  // namespace

std::span<const Control> BaselineControls() { return kControls; }

bool IsAllowedSeccompType(std::string_view type) { return type == "Localhost" || type == "RuntimeDefault"; }

Finding CheckProcMount(const PodView& pod) {
  Names containers;
  Values types;
  ForEachContainer(pod.spec, [&](const json::object& container) {
    const json::object& context = SecurityContext(container);
    const std::string_view type = FindString(context, "procMount");
    if (!Has(context, "procMount") || type == "Default") return;
    containers.push_back(NameOf(container));
    types.emplace(type);
  });
  if (containers.empty()) return {};
  return {"procMount",
          fmt::format("{} must not set securityContext.procMount to {}", Containers(containers), Quote(types))};
}

}  // namespace apimesh::admission::pod_security
