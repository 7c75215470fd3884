#include "services/core-api/groups/all_groups.h"
#include "services/core-api/groups/resource/deviceclass/deviceclass.h"
#include "services/core-api/groups/resource/devicetaintrule/devicetaintrule.h"
#include "services/core-api/groups/resource/resourceclaim/resourceclaim.h"
#include "services/core-api/groups/resource/resourceclaimtemplate/resourceclaimtemplate.h"
#include "services/core-api/groups/resource/resourcepoolstatusrequest/resourcepoolstatusrequest.h"
#include "services/core-api/groups/resource/resourceslice/resourceslice.h"
#include "services/core-api/groups/resource/v1beta1.h"
#include "services/core-api/resources/other_version.h"

namespace apimesh::core_api {
namespace {

/// Adds a kind in v1, v1beta2, which has the same fields, and v1beta1, which has other fields if there is a conversion.
void AddVersions(registry::Resource v1, const VersionConversion& v1beta1, std::vector<registry::Resource>& resources) {
  if (v1beta1.to_hub) v1.convert = ConvertManagedFields(v1.gvk, "v1beta1", v1beta1);
  resources.push_back(InVersion(v1, "v1beta2"));
  resources.push_back(InVersion(v1, "v1beta1", v1beta1));
  resources.push_back(std::move(v1));
}

}  // namespace

std::vector<registry::Resource> ResourceGroup(const KindInputs& inputs) {
  std::vector<registry::Resource> resources;
  AddVersions(DeviceClassResource(inputs), {}, resources);
  AddVersions(ResourceClaimResource(inputs), ClaimV1beta1(), resources);
  AddVersions(ResourceClaimTemplateResource(inputs), ClaimTemplateV1beta1(), resources);
  AddVersions(ResourceSliceResource(inputs), SliceV1beta1(), resources);
  resources.push_back(DeviceTaintRuleResource(inputs));
  resources.push_back(InVersion(resources.back(), "v1beta2"));
  resources.push_back(ResourcePoolStatusRequestResource(inputs));
  return resources;
}

}  // namespace apimesh::core_api
