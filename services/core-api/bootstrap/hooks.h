#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "lib/service/runtime.h"
#include "lib/storage/backend.h"
#include "services/core-api/bootstrap/local_api.h"
#include "services/core-api/flags.h"

namespace apimesh::core_api {

struct KindInputs;

/// Registers the post-start hooks that create and maintain the objects every cluster starts with. The hooks have the
/// same names as in kube-apiserver. A hook is omitted if this process does not serve the API groups that the hook
/// writes.
void AddBootstrapHooks(service::Runtime& runtime, const Flags& flags, LocalApiPtr api, storage::Backend& backend,
                       const std::function<bool(std::string_view group)>& serves, const KindInputs& inputs);

}  // namespace apimesh::core_api
