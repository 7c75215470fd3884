#include <algorithm>

#include <fmt/format.h>

#include "lib/base/text/text.h"
#include "lib/meta/quantity.h"
#include "services/core-api/groups/core/pod_spec/validation.h"

/// References to fields of a pod and to resources of its containers (the downward API).
namespace apimesh::core_api {
namespace {

/// All fields of the downward API. kube-apiserver converts a path to that of its internal version first, and refuses
/// other fields with a different message.
bool IsDownwardField(std::string_view path) {
  static constexpr std::string_view kFields[] = {
      "metadata.annotations", "metadata.labels", "metadata.name",      "metadata.namespace",
      "metadata.uid",         "spec.nodeName",   "spec.restartPolicy", "spec.serviceAccountName",
      "spec.schedulerName",   "status.phase",    "status.hostIP",      "status.hostIPs",
      "status.podIP",         "status.podIPs",   "spec.host"};
  return std::find(std::begin(kFields), std::end(kFields), path) != std::end(kFields);
}

struct Subscripted {
  std::string_view path, key;
};
/// Splits "metadata.labels['app']".
std::optional<Subscripted> SplitSubscript(std::string_view path) {
  if (!path.ends_with("']")) return std::nullopt;
  const std::size_t begin = path.find("['");
  if (begin == 0 || begin == std::string_view::npos) return std::nullopt;
  return Subscripted{path.substr(0, begin), path.substr(begin + 2, path.size() - begin - 4)};
}

/// Returns how messages name the kind of the resource; "" for resources without divisors.
std::string_view DivisorKind(std::string_view resource) {
  if (resource == "limits.cpu" || resource == "requests.cpu") return "cpu";
  if (resource == "limits.memory" || resource == "requests.memory") return "memory";
  if (resource == "limits.ephemeral-storage" || resource == "requests.ephemeral-storage")
    return "local ephemeral storage";
  if (resource.starts_with("requests.hugepages-") || resource.starts_with("limits.hugepages-")) return "hugepages";
  return "";
}

void ValidateDivisor(const Check& ref) {
  const std::string_view resource = ref.Text("resource"), kind = DivisorKind(resource);
  const auto divisor = meta::Quantity::Parse(ref.Text("divisor"));
  if (kind.empty() || !divisor || *divisor == meta::Quantity()) return;
  static const std::set<std::string, std::less<>> sizes = {"1",   "1k",  "1M",  "1G",  "1T",  "1P", "1E",
                                                           "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"};
  const std::string text = divisor->ToString();
  const bool supported = kind == "cpu" ? text == "1m" || text == "1" : sizes.contains(text);
  if (supported) return;
  const std::string_view values =
      kind == "cpu" ? "1m and 1" : "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei";
  ref.Add(meta::Invalid(ref.Path().Child("divisor").ToString(), meta::Quoted(resource),
                        fmt::format("only divisor's values {} are supported with the {} resource", values, kind)));
}

}  // namespace

void ValidateFieldRef(const Check& ref, const std::vector<std::string>& fields) {
  if (!ref.Require("apiVersion") || !ref.Require("fieldPath")) return;
  const std::string_view path = ref.Text("fieldPath");
  const auto convert_error = [&](std::string text) {
    ref.Invalid("fieldPath", fmt::format("error converting fieldPath: {}", text));
  };
  if (ref.Text("apiVersion") != "v1")
    return convert_error(fmt::format("unsupported pod version: {}", ref.Text("apiVersion")));
  if (const std::optional<Subscripted> subscripted = SplitSubscript(path)) {
    const bool annotation = subscripted->path == "metadata.annotations";
    if (!annotation && subscripted->path != "metadata.labels")
      return convert_error(fmt::format("field label does not support subscript: {}", path));
    const std::string key = annotation ? LowerCase(subscripted->key) : std::string(subscripted->key);
    for (std::string& complaint : meta::CheckQualifiedName(key))
      ref.Add(meta::Invalid(ref.Path().ToString(), meta::Quoted(key), std::move(complaint)));
    return;
  }
  if (!IsDownwardField(path)) return convert_error(fmt::format("field label not supported: {}", path));
  ref.OneOf("fieldPath", fields);
}

void ValidateResourceRef(const Check& ref, ResourceRefIn where) {
  static const std::vector<std::string> resources = {"limits.cpu",   "limits.ephemeral-storage",   "limits.memory",
                                                     "requests.cpu", "requests.ephemeral-storage", "requests.memory"};
  if ((where == ResourceRefIn::kEnvironment || ref.Require("containerName")) && ref.Require("resource")) {
    const std::string_view resource = ref.Text("resource");
    if (!resource.starts_with("limits.hugepages-") && !resource.starts_with("requests.hugepages-"))
      ref.OneOf("resource", resources);
  }
  ValidateDivisor(ref);
}

}  // namespace apimesh::core_api
