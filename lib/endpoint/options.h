#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "lib/endpoint/query.h"
#include "lib/registry/before_write.h"
#include "lib/storage/store.h"

/// Query parameters as options of verbs: 400 for what can't be read, 422 for what is not allowed, with the reference's texts.
namespace apimesh::endpoint {

enum class FieldValidation { kIgnore, kWarn, kStrict };

/// Of create, update and patch.
struct WriteOptions {
  std::string field_manager;
  bool dry_run = false;
  FieldValidation field_validation = FieldValidation::kWarn;
  bool force = false;  // apply only
  /// The same as an object, for admission: CreateOptions, UpdateOptions or PatchOptions.
  meta::json::object document;
};
enum class WriteKind { kCreate, kUpdate, kPatch, kApply };
meta::Result<WriteOptions> ParseWriteOptions(const Query& query, WriteKind kind);

struct ListQuery {
  storage::ListOptions list;
  storage::WatchOptions watch;
  std::optional<std::int64_t> timeout_seconds;
};
/// `name` restricts to one object (the deprecated watch of a named object). `watch`: the request is one.
meta::Result<ListQuery> ParseListQuery(const Query& query, const registry::Resource& resource, std::string_view ns,
                                       std::string_view name);

meta::Result<registry::DeleteOptions> ParseDeleteQuery(const Query& query);
/// From a decoded DeleteOptions document.
meta::Result<registry::DeleteOptions> ReadDeleteOptions(const meta::json::object& document);

/// fieldManager, or the first word of the User-Agent, cut to what may be stored.
std::string ManagerName(std::string_view field_manager, std::string_view user_agent);

}  // namespace apimesh::endpoint
