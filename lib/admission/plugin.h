#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "lib/admission/resource_versions.h"
#include "lib/base/async/task.h"
#include "lib/meta/errors/api_error.h"
#include "lib/meta/object.h"
#include "lib/meta/request/request_context.h"

namespace apimesh::admission {

enum class Operation { kCreate, kUpdate, kDelete, kConnect };
std::string_view ToString(Operation operation);  // "CREATE", …

/// State of the mutating phase of one request. After a webhook or a policy has changed the object, all mutating plugins
/// run a second time.
struct Reinvocation {
  bool second_pass = false;
  bool requested = false;  // set by a plugin in the first pass
  /// State that a plugin keeps between the passes, by the address of the plugin.
  std::map<const void*, std::shared_ptr<void>> states;
};

/// The attributes of one request for admission. The user who sent it is RequestContext::User().
struct Attributes {
  Operation operation = Operation::kCreate;
  meta::Gvk kind;  // the kind of `object`; a subresource may have its own kind (Scale, PodExecOptions)
  meta::Gvr resource;
  std::string subresource;
  std::string ns;
  std::string name;
  bool deletes_collection = false;  // `name` is that of one object of the collection
  /// The object to be written, which mutating plugins may change. For kConnect, this is the options object
  /// (PodExecOptions); for kDelete, it is nullptr.
  meta::Object* object = nullptr;
  const meta::Object* old_object = nullptr;     // the stored object, for kUpdate and kDelete
  const meta::json::object* options = nullptr;  // CreateOptions, UpdateOptions or DeleteOptions
  bool dry_run = false;                         // side effects outside of the object are not allowed
  bool namespace_deleted = false;  // a deletion of `ns` was answered recently, so caches may not know of it
  /// The other versions of the resource. If this is nullptr, there are none.
  const ResourceVersions* versions = nullptr;
  Reinvocation* reinvocation = nullptr;  // set by the chain during the mutating phase

  /// Makes `changed` the object of the request. For plugins that apply changes of others, which can change every field:
  /// it keeps the managedFields that the object had before, because the new ones may be invalid.
  void ReplaceObject(meta::Object changed);
  /// Set by the first ReplaceObject().
  std::optional<meta::json::value> replaced_managed_fields;

  /// The name in the request, as webhooks and policies see it: empty if the request deletes a collection.
  std::string_view RequestName() const { return deletes_collection ? std::string_view() : std::string_view(name); }
};

enum class Phase { kMutate, kValidate };

/// One admission plugin. Thread-safe. all_plugins.cc creates the plugins and defines their run order.
///
/// Both functions reject a request by returning an error (see Forbidden()). They can also call ctx.Warn(), which sends
/// the client a Warning header, and ctx.AddAuditAnnotation(). After a write conflict, all plugins run again.
class Plugin {
 public:
  virtual ~Plugin() = default;
  /// Returns whether the plugin has to run for this request in this phase. This is called for every plugin and every
  /// request, so it must be cheap. A plugin that returns false has no other cost.
  virtual bool Handles(Phase phase, const Attributes& attributes) const = 0;
  /// May change attributes.object. Runs for all plugins before the first Validate(). It may run twice for a request
  /// (see Reinvocation), so it must have the same effect when it runs again.
  virtual Task<meta::Result<>> Mutate(meta::RequestContext ctx, Attributes& attributes);
  /// Must not change anything.
  virtual Task<meta::Result<>> Validate(meta::RequestContext ctx, const Attributes& attributes);
};

/// Returns a 403 error that names the object of the request.
meta::ApiError Forbidden(const Attributes& attributes, std::string_view why);

}  // namespace apimesh::admission
