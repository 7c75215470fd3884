#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lib/base/task.h"
#include "lib/meta/ages.h"
#include "lib/meta/api_error.h"
#include "lib/meta/field_mask.h"
#include "lib/meta/object.h"
#include "lib/meta/request_context.h"
#include "lib/patch/managed_fields.h"
#include "lib/schema/schema.h"

/// A kind is data (Resource) plus a small Strategy. The engine (lib/endpoint) does the rest.
namespace apimesh::registry {

enum class Scope { kCluster, kNamespaced };

/// The behaviour of one kind (or of one of its subresources). All functions are pure: no I/O, no waiting. The defaults do
/// what most kinds need.
class Strategy {
 public:
  virtual ~Strategy() = default;

  /// Defaults that are not constants of the schema. Runs on every decoded object, also on those read from the store.
  virtual void Default(meta::json::object& /*object*/) const {}
  /// Clears what clients may not set on creation (status) and sets what the server sets.
  virtual void PrepareForCreate(const meta::RequestContext&, meta::Object& /*object*/) const {}
  virtual meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& /*object*/) const { return {}; }
  virtual void PrepareForUpdate(const meta::RequestContext&, meta::Object& /*object*/, const meta::Object& /*old*/) const {}
  virtual meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& /*object*/,
                                           const meta::Object& /*old*/) const {
    return {};
  }
  /// Texts for Warning headers.
  virtual std::vector<std::string> Warnings(const meta::RequestContext&, const meta::Object& /*object*/,
                                            const meta::Object* /*old*/) const {
    return {};
  }
  virtual bool AllowCreateOnUpdate() const { return false; }
  /// Updates without a resourceVersion are taken.
  virtual bool AllowUnconditionalUpdate() const { return true; }

  /// What besides metadata.finalizers keeps an object that is being deleted (spec.finalizers of namespaces).
  virtual bool HoldsBackDeletion(const meta::Object& /*object*/) const { return false; }
  /// The deletion of an object that is held back begins.
  virtual void PrepareForDelete(meta::Object& /*object*/) const {}

  /// Graceful deletion: seconds to wait before the object goes (0: at once), or nullopt if the kind has none.
  /// `asked` is the client's gracePeriodSeconds.
  virtual std::optional<std::int64_t> GracePeriod(const meta::Object& /*object*/, std::optional<std::int64_t> /*asked*/) const {
    return std::nullopt;
  }
};
using StrategyPtr = std::shared_ptr<const Strategy>;

/// A printer column of Table output.
struct Column {
  std::string name;
  std::string type = "string";
  std::string format;
  std::string description;
  int priority = 0;
};
/// Columns besides Name and Age, and the cells of one object. Empty: Name and Age only.
struct TablePrinter {
  std::vector<Column> columns;  // all columns, Name and Age included, in order
  /// By the object alone, and by ages, which `ages` tells: rows are kept for as long as it says.
  std::function<meta::json::array(const meta::Object& object, meta::Ages& ages)> cells;
  /// What `cells` reads of an object; the rest may be missing from the one it gets. Nothing named: everything.
  meta::FieldMask reads;
};

/// Does what a write of its own kind means (binding, eviction, token, access review): gets the decoded and defaulted body
/// of a create, gives the answer's body. `name` is the object's, empty for a resource without names.
using Action = std::function<Task<meta::Result<meta::Object>>(meta::RequestContext ctx, std::string name, meta::Object body,
                                                              bool dry_run)>;

/// Work around writes that needs I/O (allocating a cluster IP). Thread-safe. Not run for dry runs.
class Hooks {
 public:
  virtual ~Hooks() = default;
  /// Before the strategy prepares and validates; may change the object.
  virtual Task<meta::Result<>> BeginCreate(meta::RequestContext ctx, meta::Object& object);
  virtual Task<meta::Result<>> BeginUpdate(meta::RequestContext ctx, meta::Object& object, const meta::Object& old);
  /// Gives back what `loser` holds and `winner` does not: the old state after an update, the new one after an update
  /// that failed or has to run again.
  virtual Task<> GiveBack(meta::RequestContext ctx, const meta::Object& loser, const meta::Object& winner);
  /// The write failed: gives back what BeginCreate took.
  virtual Task<> AbandonCreate(meta::RequestContext ctx, const meta::Object& object);
  virtual Task<> AfterDelete(meta::RequestContext ctx, const meta::Object& object);
};

/// Where a kind has its replicas: dotted paths such as "spec.replicas". The selector may be a text, a map of labels or a
/// LabelSelector.
struct ScalePaths {
  std::string spec_replicas = "spec.replicas";
  std::string status_replicas = "status.replicas";
  std::string selector;
};

struct Subresource {
  std::string name;  // "status", "scale", …
  meta::Gvk kind;    // of the body, where it differs (autoscaling/v1 Scale)
  std::set<std::string> verbs;
  StrategyPtr strategy;
  patch::ResetFields reset_fields;
  bool connect = false;  // exec, proxy, …
  bool takes_path = false;  // any path may follow (proxy)
  const schema::Node* schema = nullptr;  // of the body, where `kind` is set
  std::optional<ScalePaths> scale;
  Action create;
};

struct Resource {
  meta::Gvk gvk;
  std::string plural;
  std::string singular;
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  Scope scope = Scope::kNamespaced;
  std::set<std::string> verbs;
  const schema::Node* schema = nullptr;
  StrategyPtr strategy;
  patch::ResetFields reset_fields;
  std::vector<Subresource> subresources;
  /// Path of the store below --etcd-prefix ("pods", "services/specs"); several Resources may share one (events).
  std::string storage_prefix;
  meta::Gvk storage_gvk;
  /// Where the stored version has other fields: changes a document of one version into the other.
  std::function<void(meta::json::object& document)> from_stored, to_stored;
  /// Where the versions of a kind have other fields: for managedFields that were noted in another version. Empty: they are the same.
  std::function<std::optional<patch::ManagerInfo::View>(const meta::Object& object, std::string_view api_version)> convert;
  std::chrono::seconds ttl{0};
  std::vector<std::string> selectable_fields;
  std::vector<std::string> field_defaults;  // of fields that are absent, in the same order
  std::function<std::vector<std::string>(const meta::Object& object)> read_fields;
  TablePrinter table;
  /// Rules of names: nullptr means a DNS subdomain.
  std::function<std::vector<std::string>(std::string_view name, bool prefix)> validate_name;
  /// The kind has a spec whose changes bump metadata.generation.
  bool generation = false;
  std::shared_ptr<Hooks> hooks;
  /// Nothing is stored: a create does this and answers with its result.
  Action create;
  /// Deletions answer with the object instead of a Status.
  bool returns_deleted_object = false;

  meta::Gvr GetGvr() const { return {gvk.group, gvk.version, plural}; }
  meta::GroupResource GetGroupResource() const { return {gvk.group, plural}; }
};

}  // namespace apimesh::registry
