#include "services/core-api/groups/core/pod/pod_subresource.h"

#include "lib/meta/equal.h"
#include "services/core-api/groups/core/pod/pod_rules.h"
#include "services/core-api/groups/core/pod/status_ips.h"
#include "services/core-api/groups/core/pod_spec/defaults.h"

namespace apimesh::core_api {

void PodSubresource::Default(meta::json::object& pod) const {
  DefaultPod(pod);
  SyncPodIps(pod);
}

void PodSubresource::KeepMetadataAndStatus(meta::Object& pod, const meta::Object& old) {
  CopyField(pod.Root(), old.Root(), "status");
  for (const char* field :
       {"labels", "annotations", "finalizers", "ownerReferences", "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    CopyField(pod.Metadata(), old.Metadata(), field);
  }
}

void PodSubresource::CountGeneration(meta::Object& pod, const meta::Object& old) {
  if (!meta::Equal(PodSpecOf(pod), PodSpecOf(old))) pod.SetMeta("generation", old.Generation() + 1);
}

}  // namespace apimesh::core_api
