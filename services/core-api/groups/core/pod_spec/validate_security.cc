#include <algorithm>

#include <fmt/format.h>

#include "services/core-api/features/rule_features.h"
#include "services/core-api/groups/core/pod_spec/capabilities.h"
#include "services/core-api/groups/core/pod_spec/validation.h"
#include "services/core-api/validation/enums.h"
#include "services/core-api/validation/texts.h"
#include "services/core-api/validation/volume_sources.h"

/// Security contexts of pods and containers, and the rules that depend on the operating system of the pod.
namespace apimesh::core_api {
namespace {

using meta::json::value;

constexpr std::int64_t kMaxId = 2147483647;
constexpr std::size_t kMaxSysctlLength = 253;
constexpr std::size_t kMaxProfileLength = 4095;  // PATH_MAX - 1
constexpr const char* kSysctlName = "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";
constexpr const char* kNotForWindows = "cannot be set for a windows pod";

void ValidateId(const Check& context, std::string_view field) {
  if (const auto id = context.Number(field); id && (*id < 0 || *id > kMaxId))
    context.Invalid(field, fmt::format("must be between 0 and {}, inclusive", kMaxId));
}

void ValidateGroups(const Check& context) {
  const value* groups = meta::FindField(context.Object(), "supplementalGroups");
  if (!groups || !groups->is_array()) return;
  for (std::size_t i = 0; i < groups->get_array().size(); ++i) {
    const value& group = groups->get_array()[i];
    if (!group.is_int64() || (group.get_int64() >= 0 && group.get_int64() <= kMaxId)) continue;
    context.Add(meta::Invalid(context.Path().Child("supplementalGroups").Index(i).ToString(), Shown(&group),
                              fmt::format("must be between 0 and {}, inclusive", kMaxId)));
  }
}

bool IsLowerOrDigit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool IsLetterOrDigit(char c) { return IsLowerOrDigit(c) || (c >= 'A' && c <= 'Z'); }

/// Returns whether a name matches kSysctlName and is not too long.
bool IsSysctlName(std::string_view name) {
  if (name.size() > kMaxSysctlLength) return false;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find_first_of("./", begin), name.size());
    const std::string_view segment = name.substr(begin, end - begin);
    if (segment.empty() || !IsLowerOrDigit(segment.front()) || !IsLowerOrDigit(segment.back())) return false;
    if (!std::all_of(segment.begin(), segment.end(),
                     [](char c) { return IsLowerOrDigit(c) || c == '-' || c == '_'; })) {
      return false;
    }
    begin = end + 1;
  }
  return true;
}

/// Returns the namespace of the node that a sysctl changes if the pod shares it: the name of the field that shares it.
std::string_view SharedNamespace(std::string_view sysctl, const Check& spec) {
  std::string name(sysctl);
  // A name may have slashes as separators; then its dots are part of the segments.
  if (const std::size_t first = name.find_first_of("./"); first != std::string::npos && name[first] == '/') {
    for (char& c : name) c = c == '.' ? '/' : c == '/' ? '.' : c;
  }
  if (spec.IsTrue("hostNetwork") && name.starts_with("net.")) return "hostNetwork";
  const bool is_ipc = name.starts_with("kernel.shm") || name.starts_with("kernel.msg") ||
                      name.starts_with("fs.mqueue.") || name == "kernel.sem";
  return spec.IsTrue("hostIPC") && is_ipc ? "hostIPC" : "";
}

void ValidateSysctls(const Check& context, const Check& spec) {
  TextIndex names;
  for (const Check& sysctl : context.Each("sysctls")) {
    const std::string_view name = sysctl.Text("name");
    if (name.empty()) {
      sysctl.Require("name");
    } else if (!IsSysctlName(name)) {
      sysctl.Invalid("name",
                     fmt::format("must have at most {} characters and match regex {}", kMaxSysctlLength, kSysctlName));
    } else if (names.Contains(name)) {
      sysctl.Add(meta::Duplicate(sysctl.Path().Child("name").ToString(), meta::Quoted(name)));
    }
    if (const std::string_view shared = SharedNamespace(name, spec); !shared.empty())
      sysctl.Invalid("name", fmt::format("may not be specified when '{}' is true", shared));
    names.Add(name);
  }
}

void ValidateSeccomp(const Check& context) {
  const std::optional<Check> profile = context.Child("seccompProfile");
  if (!profile) return;
  const std::string_view type = profile->Text("type");
  if (type.empty()) {
    profile->Require("type", "type is required when seccompProfile is set");
  } else {
    profile->OneOf("type", {"Localhost", "RuntimeDefault", "Unconfined"});
  }
  if (type != "Localhost") {
    if (profile->Has("localhostProfile")) {
      // kube-apiserver shows the profile with Go's names of the fields.
      profile->Add(
          meta::Invalid(profile->Path().Child("localhostProfile").ToString(),
                        fmt::format(R"({{"Type":{},"LocalhostProfile":{}}})", meta::Quoted(profile->Text("type")),
                                    meta::Quoted(profile->Text("localhostProfile"))),
                        "can only be set when seccomp type is Localhost"));
    }
  } else if (!profile->Has("localhostProfile")) {
    profile->Require("localhostProfile", "must be set when seccomp type is Localhost");
  } else {
    if (profile->Text("localhostProfile").starts_with('/'))
      profile->Invalid("localhostProfile", "must be a relative path");
    ValidateNoBackSteps(*profile, "localhostProfile");
  }
}

void ValidateAppArmor(const Check& context) {
  const std::optional<Check> profile = context.Child("appArmorProfile");
  if (!profile) return;
  const std::string_view type = profile->Text("type"), name = profile->Text("localhostProfile");
  if (type == "Localhost") {
    const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
    if (!name.empty() && (is_space(name.front()) || is_space(name.back()))) {
      profile->Invalid("localhostProfile", "must not be padded with whitespace");
    } else {
      profile->Require("localhostProfile", "must be set when AppArmor type is Localhost");
    }
    if (name.size() > kMaxProfileLength)
      profile->Add(meta::TooLong(profile->Path().Child("localhostProfile").ToString(), kMaxProfileLength));
  } else if (type == "RuntimeDefault" || type == "Unconfined") {
    if (profile->Has("localhostProfile"))
      profile->Invalid("localhostProfile", "can only be set when AppArmor type is Localhost");
  } else if (type.empty()) {
    profile->Require("type", "type is required when appArmorProfile is set");
  } else {
    profile->OneOf("type", {"Localhost", "RuntimeDefault", "Unconfined"});
  }
}

/// A NetBIOS name has 1 to 15 characters and does not begin with a dot.
bool IsNetBiosName(std::string_view name) {
  return !name.empty() && name.size() <= 15 && name.front() != '.' &&
         name.find_first_of("\\/:*?\"<>|") == std::string_view::npos;
}

/// Returns whether a name consists of DNS labels, in lower or upper case.
bool IsWindowsDnsName(std::string_view name) {
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('.', begin), name.size());
    const std::string_view label = name.substr(begin, end - begin);
    if (label.empty() || label.size() > 63 || label.front() == '-' || label.back() == '-') return false;
    if (!std::all_of(label.begin(), label.end(), [](char c) { return IsLetterOrDigit(c) || c == '-'; })) return false;
    begin = end + 1;
  }
  return true;
}

/// Checks the name of a Windows account, which is "user" or "domain\\user".
void ValidateWindowsUser(const Check& options) {
  const auto invalid = [&](std::string detail) { options.Invalid("runAsUserName", std::move(detail)); };
  const std::string_view name = options.Text("runAsUserName");
  if (name.empty()) return invalid("runAsUserName cannot be an empty string");
  if (std::any_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
    return invalid("runAsUserName cannot contain control characters");
  const std::size_t separator = name.find('\\');
  const bool has_domain = separator != std::string_view::npos;
  const std::string_view domain = has_domain ? name.substr(0, separator) : "";
  const std::string_view user = has_domain ? name.substr(separator + 1) : name;
  if (user.find('\\') != std::string_view::npos) return invalid("runAsUserName cannot contain more than one backslash");

  if (domain.size() >= 256) invalid("runAsUserName's Domain length must be under 256 characters");
  if (has_domain && !IsNetBiosName(domain) && !IsWindowsDnsName(domain))
    invalid("runAsUserName's Domain doesn't match the NetBios nor the DNS format");
  if (user.empty()) {
    invalid("runAsUserName's User cannot be empty");
  } else if (user.size() > 104) {
    invalid("runAsUserName's User length must not be longer than 104 characters");
  }
  if (!user.empty() && user.find_first_not_of(". ") == std::string_view::npos)
    invalid("runAsUserName's User cannot contain only periods or spaces");
  if (user.find_first_of("\"/\\:;|=,+*?<>@[]") != std::string_view::npos)
    invalid("runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]");
}

void ValidateWindowsOptions(const Check& context) {
  const std::optional<Check> options = context.Child("windowsOptions");
  if (!options) return;
  if (options->Has("gmsaCredentialSpecName")) {
    for (std::string& complaint : meta::CheckDnsSubdomain(options->Text("gmsaCredentialSpecName")))
      options->Invalid("gmsaCredentialSpecName", std::move(complaint));
  }
  if (options->Has("gmsaCredentialSpec")) {
    const std::size_t size = options->Text("gmsaCredentialSpec").size();
    if (size == 0) options->Invalid("gmsaCredentialSpec", "gmsaCredentialSpec cannot be an empty string");
    if (size > 64 * 1024) options->Invalid("gmsaCredentialSpec", "gmsaCredentialSpec size must be under 64 KiB");
  }
  if (options->Has("runAsUserName")) ValidateWindowsUser(*options);
}

std::optional<bool> HostProcess(const Check& holder) {
  const value* found = meta::Find(holder.Object(), "securityContext", "windowsOptions", "hostProcess");
  return found && found->is_bool() ? std::optional(found->get_bool()) : std::nullopt;
}

void ForbidAll(const Check& holder, std::initializer_list<const char*> fields) {
  for (const char* field : fields) holder.Forbid(field, kNotForWindows);
}

void ValidateWindowsPod(const Check& spec) {
  static const meta::json::object empty;
  const std::optional<Check> found = spec.Child("securityContext");
  meta::FieldErrors none;
  const Check context = found ? *found : Check(empty, spec.Path().Child("securityContext"), none);
  ForbidAll(context, {"appArmorProfile", "seLinuxOptions"});
  spec.Forbid("hostUsers", kNotForWindows);
  for (const char* field : {"hostPID", "hostIPC"}) {
    if (spec.IsTrue(field)) spec.Forbid(field, kNotForWindows);
  }
  ForbidAll(context, {"seccompProfile", "fsGroup", "fsGroupChangePolicy"});
  if (!context.Each("sysctls").empty()) context.Forbid("sysctls", kNotForWindows);
  spec.Forbid("shareProcessNamespace", kNotForWindows);
  ForbidAll(context,
            {"runAsUser", "runAsGroup", "supplementalGroups", "supplementalGroupsPolicy", "seLinuxChangePolicy"});
  ForEachContainer(spec, [](const Check& container) {
    if (const std::optional<Check> context = container.Child("securityContext")) {
      ForbidAll(*context,
                {"appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities", "readOnlyRootFilesystem",
                 "privileged", "allowPrivilegeEscalation", "procMount", "runAsUser", "runAsGroup"});
    }
  });
}

void ValidateLinuxPod(const Check& spec) {
  const auto check = [](const Check& holder) {
    if (const std::optional<Check> context = holder.Child("securityContext"))
      context->Forbid("windowsOptions", "windows options cannot be set for a linux pod");
  };
  check(spec);
  ForEachContainer(spec, check);
}

}  // namespace

void ValidatePodSecurityContext(const Check& spec) {
  const std::optional<Check> context = spec.Child("securityContext");
  if (!context) return;
  for (const char* field : {"fsGroup", "runAsUser", "runAsGroup"}) ValidateId(*context, field);
  ValidateGroups(*context);
  ValidateSysctls(*context, spec);
  if (context->Has("fsGroupChangePolicy")) ValidateEnum(*context, "fsGroupChangePolicy", {"Always", "OnRootMismatch"});
  ValidateSeccomp(*context);
  ValidateWindowsOptions(*context);
  ValidateAppArmor(*context);
  context->OneOf("supplementalGroupsPolicy", {"Merge", "Strict"});
  if (ActiveRuleFeatures().se_linux_mount) {
    context->OneOf("seLinuxChangePolicy", {"MountOption", "Recursive"});
  } else {
    context->OneOf("seLinuxChangePolicy", {"Recursive"});
  }
}

void ValidateSecurityContext(const Check& container, bool host_users) {
  const std::optional<Check> context = container.Child("securityContext");
  if (!context) return;
  if (context->IsTrue("privileged") && !AllowedPodCapabilities().privileged) {
    context->Forbid("privileged", "disallowed by cluster policy");
  }
  for (const char* field : {"runAsUser", "runAsGroup"}) ValidateId(*context, field);
  if (context->Has("procMount")) ValidateEnum(*context, "procMount", {"Default", "Unmasked"});
  if (host_users && context->Text("procMount") == "Unmasked")
    context->Invalid("procMount", "`hostUsers` must be false to use `Unmasked`");
  ValidateSeccomp(*context);
  const value* escalation = meta::FindField(context->Object(), "allowPrivilegeEscalation");
  if (escalation && escalation->is_bool() && !escalation->get_bool()) {
    const auto conflict = [&](std::string_view with) {
      context->Add(meta::Invalid(context->Path().ToString(),
                                 Shown(meta::FindField(container.Object(), "securityContext")),
                                 fmt::format("cannot set `allowPrivilegeEscalation` to false and {}", with)));
    };
    if (context->IsTrue("privileged")) conflict("`privileged` to true");
    const value* added = meta::Find(context->Object(), "capabilities", "add");
    if (added && added->is_array()) {
      for (const value& capability : added->get_array()) {
        if (capability.is_string() && capability.get_string() == "CAP_SYS_ADMIN")
          conflict("`capabilities.Add` CAP_SYS_ADMIN");
      }
    }
  }
  ValidateWindowsOptions(*context);
  ValidateAppArmor(*context);
}

void ValidateHostProcess(const Check& spec) {
  const std::optional<bool> of_pod = HostProcess(spec);
  std::size_t containers = 0, host_processes = 0;
  ForEachContainer(spec, [&](const Check& container) {
    ++containers;
    const std::optional<bool> own = HostProcess(container);
    if (own && of_pod && *own != *of_pod) {
      const meta::Path path = container.Path().Child("securityContext").Child("windowsOptions").Child("hostProcess");
      container.Add(
          meta::Invalid(path.ToString(), fmt::format("{}", *own),
                        fmt::format("pod hostProcess value must be identical if both are specified, was {}", *of_pod)));
    }
    if (own.value_or(of_pod.value_or(false))) ++host_processes;
  });
  if (host_processes == 0) return;
  if (host_processes != containers) {
    spec.Add(meta::Invalid(spec.Path().ToString(), meta::Quoted(""),
                           "If pod contains any hostProcess containers then all containers must be HostProcess "
                           "containers"));
  }
  if (!spec.IsTrue("hostNetwork")) {
    spec.Add(meta::Invalid(spec.Path().Child("hostNetwork").ToString(), "false",
                           "hostNetwork must be true if pod contains any hostProcess containers"));
  }
}

void ValidateUserNamespace(const Check& spec) {
  const value* host_users = meta::FindField(spec.Object(), "hostUsers");
  if (!host_users || !host_users->is_bool() || host_users->get_bool()) return;
  constexpr const char* kReason = "when `hostUsers` is false";
  if (spec.IsTrue("hostNetwork") && !ActiveRuleFeatures().user_namespaces_host_network_support)
    spec.Add(meta::Forbidden(spec.Path().Child("hostNetwork").ToString(), kReason));
  if (spec.IsTrue("hostPID")) spec.Add(meta::Forbidden(spec.Path().Child("HostPID").ToString(), kReason));
  if (spec.IsTrue("hostIPC")) spec.Add(meta::Forbidden(spec.Path().Child("HostIPC").ToString(), kReason));
  ForEachContainer(spec, [&](const Check& container) {
    if (!container.Each("volumeDevices").empty())
      container.Add(meta::Forbidden(container.Path().Child("volumeDevices").ToString(), kReason));
  });
}

void ValidateOs(const Check& spec) {
  const std::optional<Check> os = spec.Child("os");
  if (!os || !os->Require("name")) return;
  const std::string_view name = os->Text("name");
  if (name == "linux") {
    ValidateLinuxPod(spec);
  } else if (name == "windows") {
    ValidateWindowsPod(spec);
  } else {
    spec.Add(meta::NotSupported(os->Path().ToString(), meta::Quoted(name), {"linux", "windows"}));
  }
}

}  // namespace apimesh::core_api
