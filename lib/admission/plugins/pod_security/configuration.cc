#include "lib/admission/plugins/pod_security/configuration.h"

#include <fmt/format.h>

#include "lib/admission/fields.h"
#include "lib/codec/config_section.h"
#include "lib/meta/names.h"

namespace apimesh::admission::pod_security {
namespace {

using Errors = std::vector<std::string>;
using NameErrors = std::vector<std::string> (*)(std::string_view name);

void Report(const meta::FieldError& error, Errors& errors) {
  errors.push_back(fmt::format("{}: {}", error.field, error.Message()));
}

void ReadMode(const json::object& defaults, std::string_view mode, LevelVersion& to, Errors& errors) {
  const auto check = [&](const std::string& field, const std::string& error) {
    if (!error.empty()) errors.push_back(fmt::format("{}: {}", field, error));
  };
  const std::string level_field(mode), version_field = level_field + "-version";
  if (const std::string_view level = meta::FindString(defaults, level_field); !level.empty())
    check(level_field, ParseLevel(level, to.level));
  if (const std::string_view version = meta::FindString(defaults, version_field); !version.empty())
    check(version_field, ParseVersion(version, to.version));
}

std::set<std::string, std::less<>> ReadExemptions(const json::object& exemptions, std::string_view list,
                                                  NameErrors check, Errors& errors) {
  std::set<std::string, std::less<>> names;
  const json::array& items = ListAt(exemptions, list);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string_view name = items[i].is_string() ? std::string_view(items[i].get_string()) : std::string_view();
    const std::string path = fmt::format("exemptions.{}[{}]", list, i);
    std::string wrong;
    for (const std::string& error : check(name)) wrong += (wrong.empty() ? "" : ", ") + error;
    if (!wrong.empty()) {
      Report(meta::Invalid(path, meta::Quoted(name), wrong), errors);
    } else if (!names.emplace(name).second) {
      Report(meta::Duplicate(path, meta::Quoted(name)), errors);
    }
  }
  return names;
}

json::object ReadDocument(std::string_view text) {
  static constexpr codec::SectionType kTypes[] = {
      {"pod-security.admission.config.k8s.io/v1", "PodSecurityConfiguration"},
      {"pod-security.admission.config.k8s.io/v1beta1", "PodSecurityConfiguration"},
      {"pod-security.admission.config.k8s.io/v1alpha1", "PodSecurityConfiguration"}};
  static const codec::SectionStruct kDefaults = {"PodSecurityDefaults",
                                                 {{"enforce", "string"},
                                                  {"enforce-version", "string"},
                                                  {"audit", "string"},
                                                  {"audit-version", "string"},
                                                  {"warn", "string"},
                                                  {"warn-version", "string"}}};
  static const codec::SectionStruct kExemptions = {
      "PodSecurityExemptions", {{"usernames", "[]string"}, {"namespaces", "[]string"}, {"runtimeClasses", "[]string"}}};
  static const codec::SectionStruct kConfiguration = {
      "PodSecurityConfiguration",
      {{"defaults", "v1.PodSecurityDefaults", &kDefaults}, {"exemptions", "v1.PodSecurityExemptions", &kExemptions}}};
  return codec::ReadStrictSection(text, kTypes, kConfiguration);
}

std::vector<std::string> UserErrors(std::string_view name) {
  if (name.empty()) return {"username must not be empty"};
  return {};
}
std::vector<std::string> NamespaceErrors(std::string_view name) { return meta::NameIsDnsLabel(name, false); }
std::vector<std::string> ClassErrors(std::string_view name) { return meta::NameIsDnsSubdomain(name, false); }

}  // namespace

Configuration ReadConfiguration(const std::optional<std::string>& section) {
  Configuration configuration;
  if (!section || section->empty()) return configuration;
  const json::object document = ReadDocument(*section);
  const json::object &defaults = ObjectAt(document, "defaults"), &exemptions = ObjectAt(document, "exemptions");
  Errors errors;
  ReadMode(defaults, "enforce", configuration.defaults.enforce, errors);
  ReadMode(defaults, "audit", configuration.defaults.audit, errors);
  ReadMode(defaults, "warn", configuration.defaults.warn, errors);
  if (!errors.empty()) throw codec::InvalidSection("PodSecurity configuration error: " + JoinErrors(errors));
  configuration.exempt_namespaces = ReadExemptions(exemptions, "namespaces", &NamespaceErrors, errors);
  configuration.exempt_runtime_classes = ReadExemptions(exemptions, "runtimeClasses", &ClassErrors, errors);
  configuration.exempt_users = ReadExemptions(exemptions, "usernames", &UserErrors, errors);
  if (!errors.empty()) throw codec::InvalidSection("PodSecurity invalid: " + JoinErrors(errors));
  return configuration;
}

}  // namespace apimesh::admission::pod_security
