#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "lib/endpoint/input/query.h"
#include "lib/registry/before_write.h"
#include "lib/storage/store.h"

/// Parses query parameters into the options of the verbs. A parameter that cannot be parsed is a 400, a value that is
/// not allowed is a 422. Messages are those of kube-apiserver.
namespace apimesh::endpoint {

enum class FieldValidation { kIgnore, kWarn, kStrict };

/// The options of create, update and patch.
struct WriteOptions {
  std::string field_manager;
  bool dry_run = false;
  FieldValidation field_validation = FieldValidation::kWarn;
  bool force = false;  // apply only
  /// The options as a CreateOptions or UpdateOptions object, for admission. Those of a patch are UpdateOptions.
  meta::json::object document;
};
enum class WriteKind { kCreate, kUpdate, kPatch, kApply };
meta::Result<WriteOptions> ParseWriteOptions(const Query& query, WriteKind kind);

struct ListQuery {
  storage::ListOptions list;
  storage::WatchOptions watch;
  std::optional<std::int64_t> timeout_seconds;
};
/// If `name` is not empty, the query selects only that object (the deprecated watch of a named object). Without
/// `watch_list`, sendInitialEvents is refused.
meta::Result<ListQuery> ParseListQuery(const Query& query, const registry::Resource& resource, std::string_view ns,
                                       std::string_view name, bool watch_list = true);

meta::Result<registry::DeleteOptions> ParseDeleteQuery(const Query& query);
/// Reads and validates a decoded DeleteOptions document.
meta::Result<registry::DeleteOptions> ReadDeleteOptions(const meta::json::object& document);

/// Returns `field_manager` if it is set. Otherwise, returns the part of the User-Agent before the first slash, without
/// control characters and cut to the maximum length of a manager name, or "unknown" if that is empty.
std::string ManagerName(std::string_view field_manager, std::string_view user_agent);

}  // namespace apimesh::endpoint
