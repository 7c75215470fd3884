#include "lib/admission/plugins/pod_security/checks.h"

#include <gmock/gmock.h>

#include "lib/admission/testing_cluster.h"

namespace apimesh::admission::pod_security {
namespace {

/// A pod that complies with all controls of "restricted", with a merge patch. "C" in the patch stands for the
/// container.
std::string Restricted() {
  return R"({"securityContext":{"runAsNonRoot":true,"seccompProfile":{"type":"RuntimeDefault"}},"containers":[{"name":"c",
    "securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]}}}]})";
}

struct CheckCase {
  std::string test;
  LevelVersion policy;
  std::string spec;  // JSON
  std::string want;  // Details() of the findings
  std::string metadata = "{}";
};
constexpr LevelVersion Baseline(int minor = Version::kLatest) { return {Level::kBaseline, {minor}}; }
constexpr LevelVersion Strict(int minor = Version::kLatest) { return {Level::kRestricted, {minor}}; }

std::string Container(const std::string& fields) {
  return fmt::format(R"({{"containers":[{{"name":"c",{}}}]}})", fields);
}
std::string Context(const std::string& fields) { return Container(fmt::format(R"("securityContext":{{{}}})", fields)); }
std::string PodContext(const std::string& fields) {
  return fmt::format(R"({{"securityContext":{{{}}},"containers":[{{"name":"c"}}]}})", fields);
}
std::string Sysctl(const std::string& name) { return PodContext(fmt::format(R"("sysctls":[{{"name":"{}"}}])", name)); }
std::string Volume(const std::string& source) {
  return fmt::format(R"({{"volumes":[{{"name":"v","{}":{{}}}}],"securityContext":{{"runAsNonRoot":true}}}})", source);
}
std::string Annotation(const std::string& key, const std::string& value) {
  return fmt::format(R"({{"annotations":{{"{}":"{}"}}}})", key, value);
}

class Standards : public ::testing::TestWithParam<CheckCase> {};
TEST_P(Standards, Find) {
  const meta::Object spec = Parse(GetParam().spec), metadata = Parse(GetParam().metadata);
  EXPECT_EQ(Details(Evaluate(GetParam().policy, {metadata.Root(), spec.Root()})), GetParam().want);
}

const char kPod[] = R"({"containers":[{"name":"c"}]})";
const CheckCase kCases[] = {
    {"PrivilegedAllowsAll", {}, R"({"hostNetwork":true})", ""},
    {"BaselineAllowsPlainPods", Baseline(), kPod, ""},
    {"RestrictedAllowsRestrictedPods", Strict(), Restricted(), ""},
    {"RestrictedPlainPod", Strict(), kPod,
     R"(allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), )"
     R"(unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]), )"
     R"(runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true), )"
     R"(seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or )"
     R"("Localhost"))"},
    {"OldRestrictedPlainPod", Strict(0), kPod,
     R"(runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true))"},
    // appArmorProfile
    {"AppArmorAllowed", Baseline(), Context(R"("appArmorProfile":{"type":"Localhost"})"), ""},
    {"AppArmorField", Baseline(), Context(R"("appArmorProfile":{"type":"Unconfined"})"),
     R"(forbidden AppArmor profile (container "c" must not set AppArmor profile type to "Unconfined"))"},
    {"AppArmorPod", Baseline(),
     R"({"securityContext":{"appArmorProfile":{"type":"Unconfined"}},"containers":[{"name":"a","securityContext":
       {"appArmorProfile":{"type":"Other"}}},{"name":"b","securityContext":{"appArmorProfile":{"type":"Unconfined"}}}]})",
     R"(forbidden AppArmor profiles (pod and containers "a", "b" must not set AppArmor profile type to "Other", )"
     R"("Unconfined"))"},
    {"AppArmorAnnotation", Baseline(), kPod,
     R"(forbidden AppArmor profile (annotation must not set AppArmor profile type to )"
     R"("container.apparmor.security.beta.kubernetes.io/c="unconfined""))",
     Annotation("container.apparmor.security.beta.kubernetes.io/c", "unconfined")},
    {"AppArmorAllowedAnnotation", Baseline(), kPod, "",
     Annotation("container.apparmor.security.beta.kubernetes.io/c", "localhost/x")},
    // capabilities
    {"CapabilityAllowed", Baseline(), Context(R"("capabilities":{"add":["CHOWN","SYS_CHROOT"]})"), ""},
    {"CapabilityAdded", Baseline(), Context(R"("capabilities":{"add":["SYS_ADMIN","CHOWN","NET_RAW"]})"),
     R"(non-default capabilities (container "c" must not include "NET_RAW", "SYS_ADMIN" in )"
     "securityContext.capabilities.add)"},
    {"CapabilityOldRestricted", Strict(21),
     R"({"securityContext":{"runAsNonRoot":true,"seccompProfile":{"type":"RuntimeDefault"}},"containers":[{"name":"c",
       "securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"add":["X"]}}}]})",
     R"(non-default capabilities (container "c" must not include "X" in securityContext.capabilities.add))"},
    {"CapabilityRestricted", Strict(22),
     R"({"securityContext":{"runAsNonRoot":true,"seccompProfile":{"type":"RuntimeDefault"}},"containers":[{"name":"c",
       "securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"add":["CHOWN","NET_BIND_SERVICE"]}}}]})",
     R"(unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]; container "c" )"
     R"(must not include "CHOWN" in securityContext.capabilities.add))"},
    // host namespaces, ports, volumes, probes
    {"HostNamespaces", Baseline(0), R"({"hostNetwork":true,"hostPID":true,"hostIPC":true})",
     "host namespaces (hostNetwork=true, hostPID=true, hostIPC=true)"},
    {"HostNamespacesOff", Baseline(), R"({"hostNetwork":false})", ""},
    {"HostPath", Baseline(), Volume("hostPath"), R"(hostPath volumes (volume "v"))"},
    {"HostPathRestricted", Strict(0), Volume("hostPath"),
     R"(restricted volume types (volume "v" uses restricted volume type "hostPath"))"},
    {"HostPorts", Baseline(),
     R"({"containers":[{"name":"a","ports":[{"hostPort":80},{"hostPort":0}]}],"initContainers":[{"name":"i","ports":[
       {"hostPort":443}]}]})",
     R"(hostPort (containers "i", "a" use hostPorts 443, 80))"},
    {"ContainerPorts", Baseline(), Container(R"("ports":[{"containerPort":80}])"), ""},
    {"ProbeHost", Baseline(34), Container(R"("livenessProbe":{"httpGet":{"host":"h"}})"),
     R"(probe or lifecycle host (container "c" uses probe or lifecycle host "h"))"},
    {"HookHost", Baseline(), Container(R"("lifecycle":{"preStop":{"tcpSocket":{"host":"h"}}})"),
     R"(probe or lifecycle host (container "c" uses probe or lifecycle host "h"))"},
    {"OldProbeHost", Baseline(33), Container(R"("livenessProbe":{"httpGet":{"host":"h"}})"), ""},
    // privileged, procMount
    {"Privileged", Baseline(), Context(R"("privileged":true)"),
     R"(privileged (container "c" must not set securityContext.privileged=true))"},
    {"PrivilegedEphemeral", Baseline(),
     R"({"ephemeralContainers":[{"name":"d","securityContext":{"privileged":true}}]})",
     R"(privileged (container "d" must not set securityContext.privileged=true))"},
    {"NotPrivileged", Baseline(), Context(R"("privileged":false)"), ""},
    {"ProcMount", Baseline(), Context(R"("procMount":"Unmasked")"),
     R"(procMount (container "c" must not set securityContext.procMount to "Unmasked"))"},
    {"ProcMountDefault", Baseline(), Context(R"("procMount":"Default")"), ""},
    {"ProcMountUserNamespace", Baseline(35),
     R"({"hostUsers":false,"containers":[{"name":"c","securityContext":{"procMount":"Unmasked"}}]})", ""},
    {"OldProcMountUserNamespace", Baseline(34),
     R"({"hostUsers":false,"containers":[{"name":"c","securityContext":{"procMount":"Unmasked"}}]})",
     R"(procMount (container "c" must not set securityContext.procMount to "Unmasked"))"},
    {"RestrictedProcMountUserNamespace", Strict(),
     R"({"hostUsers":false,"securityContext":{"seccompProfile":{"type":"Localhost"}},"containers":[{"name":"c",
       "securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]},"procMount":"Unmasked"}}]})",
     R"(procMount (container "c" must not set securityContext.procMount to "Unmasked"))"},
    // seLinuxOptions
    {"SeLinuxAllowed", Baseline(), PodContext(R"("seLinuxOptions":{"type":"container_t","level":"s0"})"), ""},
    {"SeLinuxBad", Baseline(), PodContext(R"("seLinuxOptions":{"type":"x","user":"u","role":"r"})"),
     R"(seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "x"; user may not be set; role may not be )"
     "set)"},
    {"SeLinuxEngine", Baseline(31), PodContext(R"("seLinuxOptions":{"type":"container_engine_t"})"), ""},
    {"OldSeLinuxEngine", Baseline(30), PodContext(R"("seLinuxOptions":{"type":"container_engine_t"})"),
     R"(seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "container_engine_t"))"},
    // seccompProfile
    {"SeccompBaseline", Baseline(), Context(R"("seccompProfile":{"type":"Unconfined"})"),
     R"(seccompProfile (container "c" must not set securityContext.seccompProfile.type to "Unconfined"))"},
    {"SeccompBaselineUnset", Baseline(19), kPod, ""},
    {"SeccompAnnotation", Baseline(18), kPod,
     R"(seccompProfile (forbidden annotation seccomp.security.alpha.kubernetes.io/pod="unconfined"))",
     Annotation("seccomp.security.alpha.kubernetes.io/pod", "unconfined")},
    {"SeccompAnnotationAllowed", Baseline(18), kPod, "",
     Annotation("container.seccomp.security.alpha.kubernetes.io/c", "docker/default")},
    {"SeccompAnnotationIsIgnoredLater", Baseline(19), kPod, "",
     Annotation("seccomp.security.alpha.kubernetes.io/pod", "unconfined")},
    // sysctls
    {"SysctlAllowed", Baseline(0), Sysctl("kernel.shm_rmid_forced"), ""},
    {"SysctlForbidden", Baseline(), Sysctl("kernel.msgmax"), "forbidden sysctls (kernel.msgmax)"},
    {"Sysctl27", Baseline(27), Sysctl("net.ipv4.ip_local_reserved_ports"), ""},
    {"Sysctl26", Baseline(26), Sysctl("net.ipv4.ip_local_reserved_ports"),
     "forbidden sysctls (net.ipv4.ip_local_reserved_ports)"},
    {"Sysctl29", Baseline(29), Sysctl("net.ipv4.tcp_keepalive_probes"), ""},
    {"Sysctl28", Baseline(28), Sysctl("net.ipv4.tcp_keepalive_probes"),
     "forbidden sysctls (net.ipv4.tcp_keepalive_probes)"},
    {"Sysctl32", Baseline(99), Sysctl("net.ipv4.tcp_wmem"), ""},
    {"Sysctl31", Baseline(31), Sysctl("net.ipv4.tcp_wmem"), "forbidden sysctls (net.ipv4.tcp_wmem)"},
    // Windows
    {"HostProcess", Baseline(),
     R"({"securityContext":{"windowsOptions":{"hostProcess":true}},"containers":[{"name":"c","securityContext":
       {"windowsOptions":{"hostProcess":true}}}]})",
     R"(hostProcess (pod and container "c" must not set securityContext.windowsOptions.hostProcess=true))"},
    {"WindowsRestricted", Strict(25),
     R"({"os":{"name":"windows"},"securityContext":{"runAsNonRoot":true},"containers":[{"name":"c"}]})", ""},
    // volumes, users
    {"VolumeAllowed", Strict(0), Volume("configMap"), ""},
    {"VolumeRestricted", Strict(0), Volume("nfs"),
     R"(restricted volume types (volume "v" uses restricted volume type "nfs"))"},
    {"VolumeUnknown", Strict(0), Volume("newer"),
     R"(restricted volume types (volume "v" uses restricted volume type "unknown"))"},
    {"NonRootFalse", Strict(0),
     R"({"securityContext":{"runAsNonRoot":false},"containers":[{"name":"c","securityContext":{"runAsNonRoot":false}}]})",
     R"(runAsNonRoot != true (pod and container "c" must not set securityContext.runAsNonRoot=false))"},
    {"NonRootOfContainers", Strict(0), Context(R"("runAsNonRoot":true)"), ""},
    {"NonRootUserNamespace", Strict(35),
     R"({"hostUsers":false,"securityContext":{"seccompProfile":{"type":"Localhost"},"runAsUser":0}})", ""},
    {"RunAsRoot", Strict(23), R"({"securityContext":{"runAsUser":0,"runAsNonRoot":true,"seccompProfile":
       {"type":"Localhost"}}})",
     "runAsUser=0 (pod must not set runAsUser=0)"},
    {"OldRunAsRoot", Strict(22),
     R"({"securityContext":{"runAsUser":0,"runAsNonRoot":true,"seccompProfile":{"type":"Localhost"}}})", ""},
};
INSTANTIATE_TEST_SUITE_P(Table, Standards, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.test; });

TEST(Standards, ControlsAreSortedAndOverrideExistingOnes) {
  for (const std::span<const Control> controls : {BaselineControls(), RestrictedControls()}) {
    EXPECT_TRUE(std::is_sorted(controls.begin(), controls.end(),
                               [](const Control& a, const Control& b) { return a.id < b.id; }));
  }
  for (const Control& control : RestrictedControls()) {
    for (const CheckVersion& version : control.versions) {
      const auto baseline = BaselineControls();
      EXPECT_TRUE(version.overrides.empty() ||
                  std::any_of(baseline.begin(), baseline.end(),
                              [&](const Control& one) { return one.id == version.overrides; }))
          << version.overrides;
    }
  }
}

}  // namespace
}  // namespace apimesh::admission::pod_security
