#pragma once

#include <vector>

#include "lib/endpoint/served_resource.h"
#include "lib/service/metrics.h"
#include "lib/service/webhook/webhook_client.h"
#include "lib/storage/backend.h"
#include "services/extensions-api/custom_resources/lazy_store.h"

namespace apimesh::extensions_api {

/// One version of a definition.
struct CustomVersion {
  bool served = true;
  bool storage = false;
  endpoint::ServedResourcePtr resource;
  std::shared_ptr<LazyStore> store;
};

/// What serving the versions of a definition needs.
struct CustomSources {
  std::shared_ptr<storage::Backend> backend;
  admission::ChainPtr admission;
  /// How conversion webhooks are called, and their metrics.
  service::WebhookSources webhooks;
  service::Metrics* metrics = nullptr;
};

/// Creates the resources of all versions of a definition whose names are accepted. Their stores are opened by the first
/// request.
std::vector<CustomVersion> MakeCustomResources(const meta::Object& crd, const CustomSources& sources);

/// Returns the same version for a definition that is being deleted: objects can no longer be created.
CustomVersion WithoutCreation(const CustomVersion& version);

}  // namespace apimesh::extensions_api
