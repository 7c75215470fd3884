#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "lib/base/task.h"
#include "lib/meta/api_error.h"
#include "lib/meta/object.h"
#include "lib/meta/request_context.h"

namespace apimesh::admission {

enum class Operation { kCreate, kUpdate, kDelete, kConnect };
std::string_view ToString(Operation operation);  // "CREATE", …

/// What a plugin may know of a write.
struct Attributes {
  Operation operation = Operation::kCreate;
  meta::Gvk kind;
  meta::Gvr resource;
  std::string subresource;
  std::string ns;
  std::string name;
  meta::Object* object = nullptr;            // nullptr for a deletion; plugins that mutate change it
  const meta::Object* old_object = nullptr;  // update and deletion
  const meta::json::object* options = nullptr;
  bool dry_run = false;
  std::map<std::string, std::string>* audit_annotations = nullptr;
};

enum class Phase { kMutate, kValidate };

/// One admission plugin. Thread-safe. Plugins are made by all_plugins.cc, whose order is the run order.
class Plugin {
 public:
  virtual ~Plugin() = default;
  /// Whether the plugin has something to do for this write in this phase. Every plugin is asked about every write, so this has to
  /// be cheap; a plugin that returns false costs nothing else.
  virtual bool Handles(Phase phase, const Attributes& attributes) const = 0;
  /// May change attributes.object. Runs for all plugins before any Validate.
  virtual Task<meta::Result<>> Mutate(meta::RequestContext ctx, Attributes& attributes);
  /// Must not change anything.
  virtual Task<meta::Result<>> Validate(meta::RequestContext ctx, const Attributes& attributes);
};

/// 403 that names what the write was about.
meta::ApiError Forbidden(const Attributes& attributes, std::string_view why);

}  // namespace apimesh::admission
