#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "lib/service/runtime.h"
#include "lib/storage/backend.h"
#include "services/core-api/bootstrap/local_api.h"
#include "services/core-api/flags.h"

namespace apimesh::core_api {

/// Registers what makes and keeps the objects every cluster begins with, as post-start hooks with the reference's names.
/// A hook whose API group this process does not serve is left out.
void AddBootstrapHooks(service::Runtime& runtime, const Flags& flags, LocalApiPtr api, storage::Backend& backend,
                       const std::function<bool(std::string_view group)>& serves);

}  // namespace apimesh::core_api
