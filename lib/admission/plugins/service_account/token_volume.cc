#include "lib/admission/plugins/service_account/token_volume.h"

#include "lib/admission/fields.h"
#include "lib/meta/names.h"

namespace apimesh::admission::service_account {
namespace {

constexpr std::string_view kMountPath = "/var/run/secrets/kubernetes.io/serviceaccount";
constexpr std::string_view kVolumePrefix = "kube-api-access-";
/// The lifetime that the server extends for clients which never read the token again, and warns about.
constexpr std::int64_t kTokenSeconds = 3607;

/// Returns the name of the token volume that the pod brings itself, or "".
std::string_view FindTokenVolume(const json::object& spec) {
  for (const json::value& volume : ListAt(spec, "volumes")) {
    if (!volume.is_object()) continue;
    const std::string_view name = meta::FindString(volume.get_object(), "name");
    if (name.starts_with(kVolumePrefix)) return name;
  }
  return "";
}

bool MountsAtPath(const json::object& container) {
  return AnyOf(ListAt(container, "volumeMounts"),
               [](const json::object& mount) { return meta::FindString(mount, "mountPath") == kMountPath; });
}

void AddVolume(json::object& spec, std::string_view name) {
  json::object& volume = MakeList(spec, "volumes").emplace_back(json::object()).get_object();
  volume["name"] = name;
  json::object& projected = meta::MakeObject(volume, "projected");
  json::array& sources = MakeList(projected, "sources");
  json::object& token = sources.emplace_back(json::object()).get_object();
  token["serviceAccountToken"] = {{"expirationSeconds", kTokenSeconds}, {"path", "token"}};
  json::object& certificate = meta::MakeObject(sources.emplace_back(json::object()).get_object(), "configMap");
  certificate["name"] = "kube-root-ca.crt";
  MakeList(certificate, "items").push_back({{"key", "ca.crt"}, {"path", "ca.crt"}});
  json::object& downward = meta::MakeObject(sources.emplace_back(json::object()).get_object(), "downwardAPI");
  MakeList(downward, "items")
      .push_back({{"path", "namespace"}, {"fieldRef", {{"apiVersion", "v1"}, {"fieldPath", "metadata.namespace"}}}});
  projected["defaultMode"] = 420;
}

}  // namespace

void MountToken(json::object& spec) {
  std::string name(FindTokenVolume(spec));
  const bool has_volume = !name.empty();
  if (!has_volume) name = meta::GenerateName(kVolumePrefix);
  bool mounted = false;
  for (const char* list : {"initContainers", "containers"}) {
    ForEach(spec, list, [&](json::object& container) {
      if (MountsAtPath(container)) return;
      MakeList(container, "volumeMounts").push_back({{"name", name}, {"readOnly", true}, {"mountPath", kMountPath}});
      mounted = true;
    });
  }
  if (mounted && !has_volume) AddVolume(spec, name);
}

}  // namespace apimesh::admission::service_account
