#pragma once

#include <functional>
#include <optional>
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

  /// An object as another version shows it.
  struct View {
    const schema::Node* node;
    meta::Object object;
  };
  /// Converts, for managers that wrote in other versions. nullopt: that version is gone, and ownership noted in it goes too.
  /// Empty: all versions have the same fields.
  std::function<std::optional<View>(const meta::Object& object, std::string_view api_version)> convert;
};

/// Fields that a (sub)resource ignores: dotted paths such as "status", "metadata.generation"; they never get an owner.
using ResetFields = std::set<std::string>;

/// Brings metadata.managedFields of `updated` up to date after an update, create or non-apply patch from `live`
/// (nullptr: created). Keeps times where nothing changed; at most 10 update managers, the oldest are merged into
/// "ancient-changes"; managedFields of [{}] resets. An object that has no managedFields gets none until it is applied.
/// Fields that the schema marks `always` need not be written in the documents.
/// Belongs before admission and before the strategy prepares the object: what they add has no owner.
meta::Result<> UpdateManagedFields(const meta::Object* live, meta::Object& updated, const schema::Node& node,
                                   const ManagerInfo& manager, const ResetFields& reset);

/// Server-side apply of `applied` onto `live` (an empty object with the identity set, if there is none): the merged object
/// with its managedFields. Conflicts give 409 with one cause a field, unless `force`. Fields the manager applied before
/// and no longer mentions are removed where nobody else owns them. The caller defaults the result. `applied` must have the
/// version that `manager` says and the kind of `live`.
meta::Result<meta::Object> Apply(const meta::Object& live, const meta::Object& applied, const schema::Node& node,
                                 const ManagerInfo& manager, bool force, const ResetFields& reset);

}  // namespace apimesh::patch
