#pragma once

#include <string>
#include <vector>

#include "lib/registry/resource.h"

namespace apimesh::core_api {

struct KindInputs;

/// Returns every resource of the built-in groups, including those that this process does not serve. Versions that are
/// off by default are included only if --runtime-config switches them on.
std::vector<registry::Resource> AllResources(const KindInputs& inputs);

/// Whether this process serves the resource, according to --api-groups and --runtime-config.
bool IsServedHere(const KindInputs& inputs, const registry::Resource& resource);

// The groups. Each lists all its kinds, one line per kind, in groups/<group>/group.cc.
std::vector<registry::Resource> AdmissionRegistrationGroup(const KindInputs& inputs);
std::vector<registry::Resource> AppsGroup(const KindInputs& inputs);
std::vector<registry::Resource> AuthenticationGroup(const KindInputs& inputs);
std::vector<registry::Resource> AuthorizationGroup(const KindInputs& inputs);
std::vector<registry::Resource> AutoscalingGroup(const KindInputs& inputs);
std::vector<registry::Resource> BatchGroup(const KindInputs& inputs);
std::vector<registry::Resource> CertificatesGroup(const KindInputs& inputs);
std::vector<registry::Resource> CoordinationGroup(const KindInputs& inputs);
std::vector<registry::Resource> CoreGroup(const KindInputs& inputs);
std::vector<registry::Resource> DiscoveryGroup(const KindInputs& inputs);
std::vector<registry::Resource> EventsGroup(const KindInputs& inputs);
std::vector<registry::Resource> FlowControlGroup(const KindInputs& inputs);
std::vector<registry::Resource> InternalApiserverGroup(const KindInputs& inputs);
std::vector<registry::Resource> NetworkingGroup(const KindInputs& inputs);
std::vector<registry::Resource> NodeGroup(const KindInputs& inputs);
std::vector<registry::Resource> PolicyGroup(const KindInputs& inputs);
std::vector<registry::Resource> RbacGroup(const KindInputs& inputs);
std::vector<registry::Resource> ResourceGroup(const KindInputs& inputs);
std::vector<registry::Resource> SchedulingGroup(const KindInputs& inputs);
std::vector<registry::Resource> StorageGroup(const KindInputs& inputs);
std::vector<registry::Resource> StorageMigrationGroup(const KindInputs& inputs);

}  // namespace apimesh::core_api
