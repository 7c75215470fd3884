#pragma once

#include "lib/meta/object.h"
#include "services/aggregator/apiservices/external_discovery.h"
#include "services/aggregator/apiservices/external_server.h"
#include "services/aggregator/extensions/extension_server.h"

namespace apimesh::aggregator {

// What the spec of an APIService says about its server. The object must be valid.

Registration RegistrationOf(const meta::Object& api_service);
/// For a server that `spec.service` names. The options of the aggregator itself have their defaults.
ExternalOptions ExternalOptionsOf(const meta::Object& api_service);
/// For a server that the annotation names.
ExtensionOptions ExtensionOptionsOf(const meta::Object& api_service);

}  // namespace apimesh::aggregator
