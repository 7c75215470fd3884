#include <fmt/format.h>

#include "lib/meta/equal.h"
#include "services/core-api/groups/core/pod/pod_rules.h"
#include "services/core-api/groups/core/pod_spec/defaults.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {

using meta::json::object;
using meta::json::value;

void ApplyAppArmorAnnotations(const meta::RequestContext& ctx, meta::Object& pod) {
  const value* annotations = meta::FindField(pod.Metadata(), "annotations");
  if (!annotations || !annotations->is_object() || meta::FindString(PodSpecOf(pod), "os", "name") == "windows") return;
  value* spec = meta::FindField(pod.Root(), "spec");
  if (!spec || !spec->is_object()) return;
  const value* of_pod = meta::Find(PodSpecOf(pod), "securityContext", "appArmorProfile");
  for (const char* list : kContainerLists) {
    for (object& container : Objects(meta::FindField(spec->get_object(), list))) {
      const std::string key = fmt::format("{}{}", kAppArmorAnnotation, meta::FindString(container, "name"));
      const value* annotation = annotations->get_object().if_contains(key);
      if (!annotation || !annotation->is_string() || meta::Find(container, "securityContext", "appArmorProfile"))
        continue;
      const object profile = AppArmorProfileOf(annotation->get_string());
      if (!profile.empty()) {
        if (of_pod && of_pod->is_object() && meta::Equal(of_pod->get_object(), profile)) continue;
        meta::MakeObject(container, "securityContext")["appArmorProfile"] = profile;
      }
      ctx.Warn(fmt::format("{}: deprecated since v1.30; use the \"appArmorProfile\" field instead",
                           meta::Path("metadata").Child("annotations").Key(key).ToString()));
    }
  }
}

}  // namespace apimesh::core_api
