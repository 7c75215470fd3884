#include "services/core-api/groups/core/pod_spec/warnings/warnings.h"

#include <map>
#include <set>

#include <fmt/format.h>

#include "lib/meta/equal.h"
#include "lib/meta/quantity.h"
#include "services/core-api/groups/core/pod_spec/defaults.h"
#include "services/core-api/groups/core/pod_spec/validation.h"
#include "services/core-api/validation/cidr_rules.h"
#include "services/core-api/validation/texts.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;
using Warnings = std::vector<std::string>;

void WarnAboutAnnotations(const Check& pod_template, Warnings& warnings) {
  static constexpr std::pair<const char*, const char*> kDeprecated[] = {
      {"scheduler.alpha.kubernetes.io/critical-pod",
       R"(non-functional in v1.16+; use the "priorityClassName" field instead)"},
      {"security.alpha.kubernetes.io/sysctls", R"(non-functional in v1.11+; use the "sysctls" field instead)"},
      {"security.alpha.kubernetes.io/unsafe-sysctls", R"(non-functional in v1.11+; use the "sysctls" field instead)"},
  };
  const std::optional<Check> metadata = pod_template.Child("metadata");
  const std::optional<Check> annotations = metadata ? metadata->Child("annotations") : std::nullopt;
  if (!annotations) return;
  for (const auto& [key, why] : kDeprecated) {
    if (annotations->Has(key))
      warnings.push_back(fmt::format("{}: {}", annotations->Path().Key(std::string_view(key)).ToString(), why));
  }
}

/// Reports items of a list that have the same text in a field.
void WarnAboutDuplicates(const Check& spec, std::string_view list, const char* field, Warnings& warnings) {
  std::set<std::string_view> seen;
  for (const Check& item : spec.Each(list)) {
    if (seen.insert(item.Text(field)).second) continue;
    warnings.push_back(
        fmt::format("{}: duplicate {} {}", item.Path().Child(field).ToString(), field, meta::Quoted(item.Text(field))));
  }
}

void WarnAboutEnv(const Check& container, Warnings& warnings) {
  std::set<std::string_view> seen;
  for (const Check& variable : container.Each("env")) {
    const std::string_view name = variable.Text("name");
    if (seen.insert(name).second) continue;
    // A value that contains "$(NAME)" and more extends the previous one.
    const std::string reference = fmt::format("$({})", name);
    const std::string_view value = variable.Text("value");
    const bool extends = !variable.Has("valueFrom") && value != reference && value.find(reference) != value.npos;
    if (extends) continue;
    warnings.push_back(fmt::format("{}: hides previous definition of {}, which may be dropped when using apply",
                                   variable.Path().ToString(), meta::Quoted(name)));
  }
}

/// The annotations of a pod or template, which replace fields that did not exist in old versions.
class OldAnnotations {
 public:
  OldAnnotations(const Check& pod, const Check& spec, WarningsFor what) : what_(what) {
    if (const std::optional<Check> metadata = pod.Child("metadata")) annotations_ = metadata->Child("annotations");
    if (const std::optional<Check> context = spec.Child("securityContext")) {
      pod_seccomp_ = context->Has("seccompProfile");
      pod_apparmor_ = context->Child("appArmorProfile");
    }
  }

  void WarnAboutPod(Warnings& warnings) const {
    if (!pod_seccomp_) Warn("seccomp.security.alpha.kubernetes.io/pod", kNoSeccomp, warnings);
  }
  void WarnAboutContainer(const Check& container, Warnings& warnings) const {
    if (!annotations_) return;
    const std::optional<Check> context = container.Child("securityContext");
    if (!context || !context->Has("seccompProfile"))
      Warn(fmt::format("container.seccomp.security.alpha.kubernetes.io/{}", container.Text("name")), kNoSeccomp,
           warnings);
    // The annotations of pods become fields before warnings are computed; see ApplyAppArmorAnnotations().
    if (what_ == WarningsFor::kPod || (context && context->Has("appArmorProfile"))) return;
    const std::string key = fmt::format("{}{}", kAppArmorAnnotation, container.Text("name"));
    if (!pod_apparmor_ || !meta::Equal(pod_apparmor_->Object(), AppArmorProfileOf(annotations_->Text(key))))
      Warn(key, "deprecated since v1.30; use the \"appArmorProfile\" field instead", warnings);
  }

 private:
  static constexpr const char* kNoSeccomp = "non-functional in v1.27+; use the \"seccompProfile\" field instead";

  void Warn(const std::string& key, const char* why, Warnings& warnings) const {
    if (annotations_ && annotations_->Has(key))
      warnings.push_back(fmt::format("{}: {}", annotations_->Path().Key(key).ToString(), why));
  }

  WarningsFor what_;
  std::optional<Check> annotations_, pod_apparmor_;
  bool pod_seccomp_ = false;
};

void WarnAboutContainer(const Check& container, Warnings& warnings) {
  const std::optional<Check> resources = container.Child("resources");
  for (const char* name : {"memory", "ephemeral-storage"}) {
    for (const char* list : {"limits", "requests"}) {
      const std::optional<Check> amounts = resources ? resources->Child(list) : std::nullopt;
      if (amounts) WarnAboutFraction(*amounts, name, warnings);
    }
  }
  WarnAboutEnv(container, warnings);
}

struct Port {
  std::string path;
  std::string_view host_ip;
  std::int64_t host_port;
};

/// Returns how two definitions of the same port conflict, or "".
std::string_view Conflict(const Port& port, const Port& other) {
  if (port.host_ip == other.host_ip && port.host_port == other.host_port) return "duplicate";
  if (port.host_port == 0 || other.host_port == 0) return "overlapping";
  const bool one_has_no_address = port.host_ip.empty() != other.host_ip.empty();
  return port.host_port == other.host_port && one_has_no_address ? "dangerously ambiguous" : "";
}

using Containers = std::vector<Check>;

void WarnAboutPorts(const Containers& containers, Warnings& warnings) {
  // All definitions of a port are compared with each other, so their number is bounded.
  constexpr std::size_t kMaxCompared = 50;
  std::map<std::string, std::vector<Port>> ports;
  for (const Check& container : containers) {
    for (const Check& port : container.Each("ports")) {
      const Port now{port.Path().ToString(), port.Text("hostIP"), port.Number("hostPort").value_or(0)};
      if (!now.host_ip.empty() && now.host_port == 0) {
        // kube-apiserver prints the port as a Go structure.
        warnings.push_back(fmt::format(
            "{}: hostIP set without hostPort: {{Name:{} HostPort:0 ContainerPort:{} Protocol:{} HostIP:{}}}", now.path,
            port.Text("name"), port.Number("containerPort").value_or(0), port.Text("protocol"), now.host_ip));
      }
      std::vector<Port>& others =
          ports[fmt::format("{}/{}", port.Number("containerPort").value_or(0), port.Text("protocol"))];
      for (const Port& other : others) {
        const std::string_view conflict = Conflict(now, other);
        if (!conflict.empty() && warnings.size() < kMaxPodWarnings)
          warnings.push_back(fmt::format("{}: {} port definition with {}", now.path, conflict, other.path));
      }
      if (others.size() < kMaxCompared) others.push_back(now);
    }
  }
  std::map<std::string_view, std::string> names;
  for (const Check& container : containers) {
    for (const Check& port : container.Each("ports")) {
      const std::string_view name = port.Text("name");
      if (name.empty()) continue;
      const auto [other, is_new] = names.emplace(name, port.Path().ToString());
      if (is_new || warnings.size() >= kMaxPodWarnings) continue;
      warnings.push_back(
          fmt::format("{}: duplicate port name {} with {}, services and probes that select ports by name will use {}",
                      port.Path().ToString(), meta::Quoted(name), other->second, other->second));
    }
  }
}

void WarnAboutAddresses(const Check& spec, Warnings& warnings) {
  const auto warn = [&](const meta::Path& path, std::string_view address) {
    for (std::string& text : IpWarnings(path, address)) warnings.push_back(std::move(text));
  };
  if (const std::optional<Check> dns = spec.Child("dnsConfig")) {
    std::size_t index = 0;
    for (const std::string_view server : TextsOf(*dns, "nameservers"))
      warn(dns->Path().Child("nameservers").Index(index++), server);
  }
  for (const Check& alias : spec.Each("hostAliases")) warn(alias.Path().Child("ip"), alias.Text("ip"));
}

}  // namespace

void WarnAboutFraction(const Check& amounts, std::string_view name, Warnings& warnings) {
  if (!amounts.Has(name)) return;
  const auto amount = meta::Quantity::Parse(amounts.Text(name));
  if (!amount || amount->MilliValue() % 1000 == 0) return;
  warnings.push_back(fmt::format("{}: fractional byte value {} is invalid, must be an integer",
                                 amounts.Path().Key(name).ToString(), meta::Quoted(amount->ToString())));
}

std::vector<std::string> PodWarnings(const Check& pod, WarningsFor what) {
  Warnings warnings;
  const std::optional<Check> spec = pod.Child("spec");
  if (!spec) return warnings;
  WarnAboutScheduling(*spec, warnings);
  WarnAboutAnnotations(pod, warnings);
  WarnAboutVolumes(*spec, warnings);
  WarnAboutFiles(*spec, warnings);
  WarnAboutDuplicates(*spec, "hostAliases", "ip", warnings);
  WarnAboutDuplicates(*spec, "imagePullSecrets", "name", warnings);
  for (const Check& secret : spec->Each("imagePullSecrets")) {
    if (secret.Text("name").empty())
      warnings.push_back(fmt::format("{}: invalid empty name \"\"", secret.Path().Child("name").ToString()));
  }
  if (const std::optional<Check> overhead = spec->Child("overhead")) {
    for (const char* name : {"memory", "ephemeral-storage"}) WarnAboutFraction(*overhead, name, warnings);
  }
  const OldAnnotations annotations(pod, *spec, what);
  annotations.WarnAboutPod(warnings);
  Containers containers;
  ForEachContainer(*spec, [&](const Check& container) { containers.push_back(container); });
  for (const Check& container : containers) {
    annotations.WarnAboutContainer(container, warnings);
    WarnAboutContainer(container, warnings);
  }
  WarnAboutPorts(containers, warnings);
  if (spec->Number("terminationGracePeriodSeconds").value_or(0) < 0) {
    warnings.push_back(fmt::format("{}: must be >= 0; negative values are invalid and will be treated as 1",
                                   spec->Path().Child("terminationGracePeriodSeconds").ToString()));
  }
  WarnAboutPodAffinity(*spec, warnings);
  WarnAboutAddresses(*spec, warnings);
  return warnings;
}

std::vector<std::string> TemplateWarningsOf(const json::object& holder, const meta::Path& path) {
  const json::value* found = meta::FindField(holder, "template");
  if (!found || !found->is_object()) return {};
  meta::FieldErrors unused;
  return PodWarnings(Check(found->get_object(), path.Child("template"), unused), WarningsFor::kTemplate);
}

std::vector<std::string> SpecTemplateWarnings(const meta::Object& object) {
  const json::value* spec = meta::FindField(object.Root(), "spec");
  if (!spec || !spec->is_object()) return {};
  return TemplateWarningsOf(spec->get_object(), meta::Path("spec"));
}

}  // namespace apimesh::core_api
