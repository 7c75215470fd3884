#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "lib/storage/store.h"
#include "services/core-api/groups/core/service/port_bitmap.h"

namespace apimesh::core_api {

/// One write of the allocated ports: it releases `release`, allocates `wanted`, and allocates `any` arbitrary free
/// ports.
struct PortChange {
  PortRange range;
  std::vector<std::int64_t> release;
  std::vector<std::int64_t> wanted;
  std::size_t any = 0;
  // Results.
  std::optional<std::int64_t> conflict;
  bool full = false;
  std::vector<std::int64_t> given;
};

/// Computes the new RangeAllocation, for Store::GuaranteedUpdate(). Returns nullopt if the change is not possible.
Task<meta::Result<std::optional<storage::Store::Update>>> ApplyPortsTask(std::shared_ptr<PortChange> change,
                                                                         const meta::Object* current);

}  // namespace apimesh::core_api
