#include "services/core-api/groups/core/pod_spec/validation.h"

#include <fmt/format.h>

#include <algorithm>

namespace apimesh::core_api {
namespace {

const std::vector<std::string> kFieldPaths = {"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
                                              "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"};
const std::vector<std::string> kResources = {"limits.cpu", "limits.ephemeral-storage", "limits.memory",
                                             "requests.cpu", "requests.ephemeral-storage", "requests.memory"};

void ValidateFieldRef(const Check& ref) {
  if (!ref.Require("apiVersion") || !ref.Require("fieldPath")) return;
  const std::string_view path = ref.Text("fieldPath");
  for (const std::string_view base : {"metadata.labels", "metadata.annotations"}) {
    if (!path.starts_with(base) || !path.ends_with("']") || path.substr(base.size(), 2) != "['") continue;
    std::string key(path.substr(base.size() + 2, path.size() - base.size() - 4));
    if (base == "metadata.annotations") std::transform(key.begin(), key.end(), key.begin(), ::tolower);
    for (std::string& complaint : meta::CheckQualifiedName(key)) ref.Add(meta::Invalid(ref.Path().ToString(), meta::Quoted(key), std::move(complaint)));
    return;
  }
  // What the conversion to the internal version knows is more than what a variable may have.
  if (std::find(kFieldPaths.begin(), kFieldPaths.end(), path) == kFieldPaths.end() && !path.starts_with("metadata.") &&
      !path.starts_with("spec.") && !path.starts_with("status.")) {
    ref.Invalid("fieldPath", fmt::format("error converting fieldPath: field label not supported: {}", path));
    return;
  }
  ref.OneOf("fieldPath", kFieldPaths);
}

void ValidateResourceRef(const Check& ref) {
  if (!ref.Require("resource")) return;
  const std::string_view resource = ref.Text("resource");
  if (!resource.starts_with("limits.hugepages-") && !resource.starts_with("requests.hugepages-")) ref.OneOf("resource", kResources);
}

void ValidateKeyRef(const Check& ref) {
  for (std::string& complaint : meta::CheckDnsSubdomain(ref.Text("name"))) ref.Invalid("name", std::move(complaint));
  ref.RequireName("key", meta::CheckConfigMapKey);
}

void ValidateValueFrom(const Check& variable) {
  const std::optional<Check> from = variable.Child("valueFrom");
  if (!from) return;
  int sources = 0;
  const auto source = [&](std::string_view field, void (*validate)(const Check&)) {
    const std::optional<Check> ref = from->Child(field);
    if (!ref) return;
    ++sources;
    validate(*ref);
  };
  source("fieldRef", &ValidateFieldRef);
  source("resourceFieldRef", &ValidateResourceRef);
  source("configMapKeyRef", &ValidateKeyRef);
  source("secretKeyRef", &ValidateKeyRef);
  source("fileKeyRef", [](const Check& ref) {
    ref.Require("key");
    ref.RequireName("volumeName", meta::CheckDnsLabel);
    ref.Require("path");
  });
  const auto complain = [&](std::string detail) { from->Add(meta::Invalid(from->Path().ToString(), "\"\"", std::move(detail))); };
  if (sources == 0) {
    complain("must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`");
  } else if (!variable.Text("value").empty()) {
    complain("may not be specified when `value` is not empty");
  } else if (sources > 1) {
    complain("may not have more than one field specified at a time");
  }
}

}  // namespace

void ValidateEnv(const Check& container) {
  for (const Check& variable : container.Each("env")) {
    variable.RequireName("name", meta::CheckEnvVarName);
    ValidateValueFrom(variable);
  }
  for (const Check& from : container.Each("envFrom")) {
    from.Names("prefix", meta::CheckEnvVarName);
    int sources = 0;
    for (const char* field : {"configMapRef", "secretRef"}) {
      const std::optional<Check> ref = from.Child(field);
      if (!ref) continue;
      ++sources;
      if (ref->Require("name")) ref->Names("name", meta::CheckDnsSubdomain);
    }
    const std::string list = container.Path().Child("envFrom").ToString();
    if (sources == 0) {
      from.Add(meta::Invalid(list, "\"\"", "must specify one of: `configMapRef` or `secretRef`"));
    } else if (sources > 1) {
      from.Add(meta::Invalid(list, "\"\"", "may not have more than one field specified at a time"));
    }
  }
}

}  // namespace apimesh::core_api
