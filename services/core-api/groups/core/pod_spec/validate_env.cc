#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "services/core-api/groups/core/pod_spec/validation.h"
#include "services/core-api/validation/texts.h"

namespace apimesh::core_api {
namespace {

const std::vector<std::string> kFieldPaths = {
    "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
    "status.hostIP", "status.hostIPs",     "status.podIP", "status.podIPs"};

void ValidateKeyRef(const Check& ref) {
  CheckText(ref, ref.Path().Child("name"), ref.Text("name"), &meta::CheckDnsSubdomain);
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
  source("fieldRef", [](const Check& ref) { ValidateFieldRef(ref, kFieldPaths); });
  source("resourceFieldRef", [](const Check& ref) { ValidateResourceRef(ref, ResourceRefIn::kEnvironment); });
  source("configMapKeyRef", &ValidateKeyRef);
  source("secretKeyRef", &ValidateKeyRef);
  source("fileKeyRef", [](const Check& ref) {
    ref.Require("key");
    ref.RequireName("volumeName", meta::CheckDnsLabel);
    ref.Require("path");
  });
  const auto complain = [&](std::string detail) {
    from->Add(meta::Invalid(from->Path().ToString(), "\"\"", std::move(detail)));
  };
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

void ValidateEnvFileVolumes(const Check& spec) {
  std::optional<std::map<std::string_view, bool>> is_empty_dir;  // made for the first variable that needs it
  ForEachContainer(spec, [&](const Check& container) {
    for (const Check& variable : container.Each("env")) {
      const std::optional<Check> from = variable.Child("valueFrom");
      const std::optional<Check> file = from ? from->Child("fileKeyRef") : std::nullopt;
      if (!file) continue;
      if (!is_empty_dir) {
        is_empty_dir.emplace();
        for (const Check& volume : spec.Each("volumes")) (*is_empty_dir)[volume.Text("name")] = volume.Has("emptyDir");
      }
      const auto found = is_empty_dir->find(file->Text("volumeName"));
      if (found == is_empty_dir->end()) {
        file->Add(meta::NotFound(file->Path().Child("volumeName").ToString(), meta::Quoted(file->Text("volumeName"))));
      } else if (!found->second) {
        file->Invalid("volumeName", "referenced volume must be of type emptyDir");
      }
    }
  });
}

}  // namespace apimesh::core_api
