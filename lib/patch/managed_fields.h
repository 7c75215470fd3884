#pragma once

#include <set>
#include <string>
#include <string_view>

#include "lib/base/clock.h"
#include "lib/meta/api_error.h"
#include "lib/meta/object.h"
#include "lib/schema/schema.h"

namespace apimesh::patch {

/// One manager's write.
struct ManagerInfo {
  std::string manager;      // fieldManager, or the first word of the User-Agent
  std::string api_version;  // of the request
  std::string subresource;
  WallTime now;
};

/// Fields that a (sub)resource ignores: dotted paths such as "status", "metadata.generation"; they never get an owner.
using ResetFields = std::set<std::string>;

/// Brings metadata.managedFields of `updated` up to date after an update, create or non-apply patch from `live`
/// (nullptr: created). Keeps times where nothing changed; at most 10 update managers, the oldest are merged into
/// "ancient-changes"; managedFields of [{}] resets.
meta::Result<> UpdateManagedFields(const meta::Object* live, meta::Object& updated, const schema::Node& node,
                                   const ManagerInfo& manager, const ResetFields& reset);

/// Server-side apply of `applied` onto `live` (an empty object with the identity set, if there is none): the merged object
/// with its managedFields. Conflicts give 409 with one cause a field, unless `force`. Fields the manager applied before
/// and no longer mentions are removed where nobody else owns them.
meta::Result<meta::Object> Apply(const meta::Object& live, const meta::Object& applied, const schema::Node& node,
                                 const ManagerInfo& manager, bool force, const ResetFields& reset);

}  // namespace apimesh::patch
