#include "services/core-api/features/rule_features.h"
#include "services/core-api/groups/core/persistentvolumeclaim/validation.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

const json::object* Source(const json::object& spec, std::string_view field) {
  const json::value* value = meta::FindField(spec, field);
  return value && value->is_object() ? &value->get_object() : nullptr;
}

/// Returns whether spec.dataSource may name this object. All other objects need spec.dataSourceRef.
bool IsClaimOrSnapshot(const json::object& source) {
  const std::string_view group = meta::FindString(source, "apiGroup"), kind = meta::FindString(source, "kind");
  return (kind == "PersistentVolumeClaim" && group.empty()) ||
         (kind == "VolumeSnapshot" && group == "snapshot.storage.k8s.io");
}

/// Returns the fields that both kinds of reference have.
json::object Copy(const json::object& source) {
  json::object copy;
  const json::value* group = meta::FindField(source, "apiGroup");
  copy["apiGroup"] = group ? *group : json::value();
  copy["kind"] = json::string(meta::FindString(source, "kind"));
  copy["name"] = json::string(meta::FindString(source, "name"));
  return copy;
}

}  // namespace

void SyncDataSources(json::object& spec, const json::object* old) {
  const json::object* ref = Source(spec, "dataSourceRef");
  if (!ActiveRuleFeatures().cross_namespace_volume_data_source && ref && !meta::FindString(*ref, "namespace").empty() &&
      !(old && Source(*old, "dataSourceRef"))) {
    meta::EraseField(spec, "dataSourceRef");
    ref = nullptr;
  }
  const json::object* source = Source(spec, "dataSource");
  const bool was_used = old && (Source(*old, "dataSource") || Source(*old, "dataSourceRef"));
  if (!was_used && !ref && source && !IsClaimOrSnapshot(*source)) {
    meta::EraseField(spec, "dataSource");
    source = nullptr;
  }
  if (source && !ref) {
    spec["dataSourceRef"] = Copy(*source);
  } else if (ref && !source && meta::FindString(*ref, "namespace").empty()) {
    spec["dataSource"] = Copy(*ref);
  }
}

}  // namespace apimesh::core_api
