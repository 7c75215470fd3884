#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "lib/base/clock.h"
#include "lib/meta/errors/api_error.h"
#include "lib/meta/object.h"
#include "lib/schema/schema.h"

namespace apimesh::patch {

/// Describes the write of one manager.
struct ManagerInfo {
  std::string manager;      // fieldManager, or the first word of the User-Agent
  std::string api_version;  // of the request
  std::string subresource;
  WallTime now;

  /// An object converted to another API version.
  struct View {
    const schema::Node* node;
    meta::Object object;
  };
  /// Converts an object to another API version, for managers that wrote in that version. Returns nullopt if the version
  /// no longer exists; ownership recorded in it is dropped. If the function is empty, all versions have the same
  /// fields.
  std::function<std::optional<View>(const meta::Object& object, std::string_view api_version)> convert;
};

/// Fields that a resource or subresource ignores, as dotted paths such as "status" and "metadata.generation". They
/// never get an owner.
using ResetFields = std::set<std::string>;

/// Updates metadata.managedFields of `updated` after an update, create or non-apply patch of `live` (nullptr: created).
/// The time of an entry stays if nothing changed. At most 10 update managers are kept; the oldest are merged into
/// "ancient-changes". managedFields of [] or [{}] resets all ownership. An existing object without managedFields gets
/// none until it is applied. Fields that the schema marks `always` need not be present in the documents.
/// The caller must call this before admission and before the strategy prepares the object, because fields that they add
/// have no owner.
meta::Result<> UpdateManagedFields(const meta::Object* live, meta::Object& updated, const schema::Node& node,
                                   const ManagerInfo& manager, const ResetFields& reset);

/// Returns why metadata.managedFields of an object can't be read; an empty text if they are valid or absent.
std::string CheckManagedFields(const meta::Object& object);

/// Applies `applied` to `live` (if the object does not exist: an empty object with the identity set) and returns the
/// merged object with its managedFields. Conflicts give 409 with one cause per field, unless `force`. Fields that the
/// manager applied before and no longer mentions are removed if no other manager owns them. The caller must default the
/// result. `applied` must have the API version of `manager` and the kind of `live`.
meta::Result<meta::Object> Apply(const meta::Object& live, const meta::Object& applied, const schema::Node& node,
                                 const ManagerInfo& manager, bool force, const ResetFields& reset);

}  // namespace apimesh::patch
