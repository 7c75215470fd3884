#include "lib/admission/plugins/service_account/mountable_secrets.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "lib/admission/fields.h"

namespace apimesh::admission::service_account {
namespace {

using meta::FindString;
using Names = std::set<std::string_view>;

Names NamesIn(const meta::Object& account, std::string_view list) {
  Names names;
  ForEach(account.Root(), list, [&](const json::object& item) { names.insert(FindString(item, "name")); });
  return names;
}

std::string NotReferenced(std::string_view what, std::string_view secret, const meta::Object& account) {
  return fmt::format(
      "{} referencing secret.secretName=\"{}\" is not allowed because service account {} does not reference that "
      "secret",
      what, secret, account.Name());
}

/// Checks the environments of the containers in one list of the pod's spec.
std::string FindInEnvironments(const json::object& spec, std::string_view list, std::string_view kind,
                               const Names& mountable, const meta::Object& account) {
  for (const json::value& item : ListAt(spec, list)) {
    if (!item.is_object()) continue;
    const json::object& container = item.get_object();
    const std::string_view name = FindString(container, "name");
    for (const json::value& variable : ListAt(container, "env")) {
      const json::object* from = variable.is_object() ? &ObjectAt(variable.get_object(), "valueFrom") : nullptr;
      if (!from || !Has(*from, "secretKeyRef")) continue;
      const std::string_view secret = FindString(*from, "secretKeyRef", "name");
      if (mountable.contains(secret)) continue;
      return NotReferenced(fmt::format("{} {} with envVar {}", kind, name, FindString(variable.get_object(), "name")),
                           secret, account);
    }
    for (const json::value& source : ListAt(container, "envFrom")) {
      if (!source.is_object() || !Has(source.get_object(), "secretRef")) continue;
      const std::string_view secret = FindString(source.get_object(), "secretRef", "name");
      if (!mountable.contains(secret)) {
        return NotReferenced(fmt::format("{} {} with envFrom", kind, name), secret, account);
      }
    }
  }
  return "";
}

}  // namespace

bool EnforcesMountableSecrets(const meta::Object& account) {
  static constexpr std::array<std::string_view, 6> kTrue = {"1", "t", "T", "TRUE", "true", "True"};
  const json::string* value = account.Annotation("kubernetes.io/enforce-mountable-secrets");
  return value && std::find(kTrue.begin(), kTrue.end(), std::string_view(*value)) != kTrue.end();
}

std::string FindForbiddenSecret(const meta::Object& account, const meta::Object& pod) {
  const Names mountable = NamesIn(account, "secrets");
  const json::object& spec = SpecOf(pod);
  for (const json::value& volume : ListAt(spec, "volumes")) {
    if (!volume.is_object() || !Has(volume.get_object(), "secret")) continue;
    const std::string_view secret = FindString(volume.get_object(), "secret", "secretName");
    if (mountable.contains(secret)) continue;
    return fmt::format(
        "volume with secret.secretName=\"{}\" is not allowed because service account {} does not reference that secret",
        secret, account.Name());
  }
  for (const auto& [list, kind] :
       {std::pair("initContainers", "init container"), std::pair("containers", "container")}) {
    if (std::string found = FindInEnvironments(spec, list, kind, mountable, account); !found.empty()) return found;
  }
  const Names pull_secrets = NamesIn(account, "imagePullSecrets");
  const json::array& used = ListAt(spec, "imagePullSecrets");
  for (std::size_t i = 0; i < used.size(); ++i) {
    const std::string_view name = used[i].is_object() ? FindString(used[i].get_object(), "name") : std::string_view();
    if (pull_secrets.contains(name)) continue;
    return fmt::format(
        "imagePullSecrets[{}].name=\"{}\" is not allowed because service account {} does not reference that "
        "imagePullSecret",
        i, name, account.Name());
  }
  return "";
}

std::string FindForbiddenEphemeralSecret(const meta::Object& account, const meta::Object& pod) {
  return FindInEnvironments(SpecOf(pod), "ephemeralContainers", "ephemeral container", NamesIn(account, "secrets"),
                            account);
}

}  // namespace apimesh::admission::service_account
