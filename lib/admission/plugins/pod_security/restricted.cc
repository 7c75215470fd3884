#include <algorithm>

#include <fmt/format.h>

#include "lib/admission/plugins/pod_security/checks.h"

namespace apimesh::admission::pod_security {
namespace {

using meta::FindString;
using Values = std::set<std::string>;  // sorted, as in the messages

/// Runs a check, except for Windows pods, which cannot set the fields that it requires.
template <CheckPod kCheck>
Finding UnlessWindows(const PodView& pod) {
  return FindString(pod.spec, "os", "name") == "windows" ? Finding() : kCheck(pod);
}

/// Runs a check, except for pods in a user namespace, whose root user is not that of the host.
template <CheckPod kCheck>
Finding UnlessUserNamespace(const PodView& pod) {
  return BoolAt(pod.spec, "hostUsers").value_or(true) ? kCheck(pod) : Finding();
}

Finding CheckPrivilegeEscalation(const PodView& pod) {
  Names containers;
  ForEachContainer(pod.spec, [&](const json::object& container) {
    if (BoolAt(SecurityContext(container), "allowPrivilegeEscalation").value_or(true))
      containers.push_back(NameOf(container));
  });
  if (containers.empty()) return {};
  return {"allowPrivilegeEscalation != false",
          fmt::format("{} must set securityContext.allowPrivilegeEscalation=false", Containers(containers))};
}

Finding CheckCapabilities(const PodView& pod) {
  Names missing_drop, adding;
  Values added;
  ForEachContainer(pod.spec, [&](const json::object& container) {
    const json::object& capabilities = ObjectAt(SecurityContext(container), "capabilities");
    const json::array& drop = ListAt(capabilities, "drop");
    const bool drops_all = std::any_of(drop.begin(), drop.end(), [](const json::value& name) {
      return name.is_string() && std::string_view(name.get_string()) == "ALL";
    });
    if (!drops_all) missing_drop.push_back(NameOf(container));
    bool bad = false;
    for (const json::value& name : ListAt(capabilities, "add")) {
      const std::string_view text = name.is_string() ? std::string_view(name.get_string()) : std::string_view();
      if (text == "NET_BIND_SERVICE") continue;
      bad = true;
      added.emplace(text);
    }
    if (bad) adding.push_back(NameOf(container));
  });
  if (missing_drop.empty() && adding.empty()) return {};
  std::string detail;
  if (!missing_drop.empty())
    detail = fmt::format(R"({} must set securityContext.capabilities.drop=["ALL"])", Containers(missing_drop));
  if (!adding.empty()) {
    detail += fmt::format("{}{} must not include {} in securityContext.capabilities.add", detail.empty() ? "" : "; ",
                          Containers(adding), Quote(added));
  }
  return {"unrestricted capabilities", std::move(detail)};
}

Finding CheckVolumes(const PodView& pod) {
  static constexpr std::string_view kAllowed[] = {"configMap", "csi",   "downwardAPI",           "emptyDir",
                                                  "ephemeral", "image", "persistentVolumeClaim", "projected",
                                                  "secret"};
  static constexpr std::string_view kForbidden[] = {"hostPath",
                                                    "gcePersistentDisk",
                                                    "awsElasticBlockStore",
                                                    "gitRepo",
                                                    "nfs",
                                                    "iscsi",
                                                    "glusterfs",
                                                    "rbd",
                                                    "flexVolume",
                                                    "cinder",
                                                    "cephfs",
                                                    "flocker",
                                                    "fc",
                                                    "azureFile",
                                                    "vsphereVolume",
                                                    "quobyte",
                                                    "azureDisk",
                                                    "photonPersistentDisk",
                                                    "portworxVolume",
                                                    "scaleIO",
                                                    "storageos"};
  Names volumes;
  Values types;
  ForEach(pod.spec, "volumes", [&](const json::object& volume) {
    const auto uses = [&volume](std::string_view type) { return Has(volume, type); };
    if (std::any_of(std::begin(kAllowed), std::end(kAllowed), uses)) return;
    volumes.push_back(NameOf(volume));
    const auto found = std::find_if(std::begin(kForbidden), std::end(kForbidden), uses);
    types.emplace(found == std::end(kForbidden) ? "unknown" : *found);
  });
  if (volumes.empty()) return {};
  return {"restricted volume types",
          fmt::format("{} {} {} {} {}", Plural("volume", "volumes", volumes.size()), Quote(volumes),
                      Plural("uses", "use", volumes.size()),
                      Plural("restricted volume type", "restricted volume types", types.size()), Quote(types))};
}

Finding CheckRunAsNonRoot(const PodView& pod) {
  const std::optional<bool> of_pod = BoolAt(SecurityContext(pod.spec), "runAsNonRoot");
  const bool bad_pod = of_pod && !*of_pod;
  Names explicitly, implicitly;  // bad containers
  ForEachContainer(pod.spec, [&](const json::object& container) {
    const std::optional<bool> value = BoolAt(SecurityContext(container), "runAsNonRoot");
    if (value && !*value) explicitly.push_back(NameOf(container));
    if (!value && !of_pod.value_or(false)) implicitly.push_back(NameOf(container));
  });
  const std::string reason = "runAsNonRoot != true";
  if (const std::string setters = Setters(bad_pod, explicitly); !setters.empty())
    return {reason, setters + " must not set securityContext.runAsNonRoot=false"};
  if (implicitly.empty()) return {};
  return {reason, fmt::format("pod or {} must set securityContext.runAsNonRoot=true", Containers(implicitly))};
}

Finding CheckRunAsUser(const PodView& pod) {
  const auto is_root = [](const json::object& owner) {
    return NumberAt(SecurityContext(owner), "runAsUser").value_or(1) == 0;
  };
  Names containers;
  ForEachContainer(pod.spec, [&](const json::object& container) {
    if (is_root(container)) containers.push_back(NameOf(container));
  });
  const std::string setters = Setters(is_root(pod.spec), containers);
  if (setters.empty()) return {};
  return {"runAsUser=0", setters + " must not set runAsUser=0"};
}

Finding CheckSeccomp(const PodView& pod) {
  Values values;
  const auto is_bad = [&](const json::object& context) {
    const std::string_view type = FindString(context, "seccompProfile", "type");
    if (!Has(context, "seccompProfile") || IsAllowedSeccompType(type)) return false;
    values.emplace(type);
    return true;
  };
  const json::object& of_pod = SecurityContext(pod.spec);
  const bool bad_pod = is_bad(of_pod), pod_sets = Has(of_pod, "seccompProfile") && !bad_pod;
  Names explicitly, implicitly;  // bad containers
  ForEachContainer(pod.spec, [&](const json::object& container) {
    const json::object& context = SecurityContext(container);
    if (is_bad(context)) explicitly.push_back(NameOf(container));
    if (!Has(context, "seccompProfile") && !pod_sets) implicitly.push_back(NameOf(container));
  });
  if (const std::string setters = Setters(bad_pod, explicitly); !setters.empty()) {
    return {"seccompProfile",
            fmt::format("{} must not set securityContext.seccompProfile.type to {}", setters, Quote(values))};
  }
  if (implicitly.empty()) return {};
  return {"seccompProfile",
          fmt::format(R"(pod or {} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")",
                      Containers(implicitly))};
}

constexpr CheckVersion kPrivilegeEscalation[] = {{8, &CheckPrivilegeEscalation},
                                                 {25, &UnlessWindows<&CheckPrivilegeEscalation>}};
constexpr CheckVersion kCapabilities[] = {{22, &CheckCapabilities, "capabilities_baseline"},
                                          {25, &UnlessWindows<&CheckCapabilities>, "capabilities_baseline"}};
constexpr CheckVersion kProcMount[] = {{35, &CheckProcMount, "procMount"}};
constexpr CheckVersion kVolumes[] = {{0, &CheckVolumes, "hostPathVolumes"}};
constexpr CheckVersion kRunAsNonRoot[] = {{0, &CheckRunAsNonRoot}, {35, &UnlessUserNamespace<&CheckRunAsNonRoot>}};
constexpr CheckVersion kRunAsUser[] = {{23, &CheckRunAsUser}, {35, &UnlessUserNamespace<&CheckRunAsUser>}};
constexpr CheckVersion kSeccomp[] = {{19, &CheckSeccomp, "seccompProfile_baseline"},
                                     {25, &UnlessWindows<&CheckSeccomp>, "seccompProfile_baseline"}};

constexpr Control kControls[] = {
    {"allowPrivilegeEscalation", kPrivilegeEscalation},
    {"capabilities_restricted", kCapabilities},
    {"procMount_restricted", kProcMount},
    {"restrictedVolumes", kVolumes},
    {"runAsNonRoot", kRunAsNonRoot},
    {"runAsUser", kRunAsUser},
    {"seccompProfile_restricted", kSeccomp},
};

}  // namespace

std::span<const Control> RestrictedControls() { return kControls; }

}  // namespace apimesh::admission::pod_security
