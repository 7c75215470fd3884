#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/async/task.h"
#include "lib/meta/ages.h"
#include "lib/meta/errors/api_error.h"
#include "lib/meta/field_mask.h"
#include "lib/meta/object.h"
#include "lib/meta/request/request_context.h"
#include "lib/patch/apply/managed_fields.h"
#include "lib/schema/schema.h"

namespace apimesh::storage {
class Store;
}

/// A kind consists of data (Resource) and a small Strategy. The engine (lib/endpoint) is the same for all kinds.
namespace apimesh::registry {

class Connector;  // lib/registry/connector.h

enum class Scope { kCluster, kNamespaced };

/// The behaviour of one kind, or of one of its subresources. All functions are pure: they do no I/O and do not block.
/// The default implementations fit most kinds.
class Strategy {
 public:
  virtual ~Strategy() = default;

  /// Sets defaults that are not constants of the schema. Runs on every decoded object, also on stored objects that have
  /// to be converted when they are read.
  virtual void Default(meta::json::object& /*object*/) const {}
  /// Clears fields that clients may not set on creation (status) and sets those that the server sets.
  virtual void PrepareForCreate(const meta::RequestContext&, meta::Object& /*object*/) const {}
  virtual meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& /*object*/) const { return {}; }
  virtual void PrepareForUpdate(const meta::RequestContext&, meta::Object& /*object*/,
                                const meta::Object& /*old*/) const {}
  virtual meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& /*object*/,
                                           const meta::Object& /*old*/) const {
    return {};
  }
  /// Returns the texts of Warning headers.
  virtual std::vector<std::string> Warnings(const meta::RequestContext&, const meta::Object& /*object*/,
                                            const meta::Object* /*old*/) const {
    return {};
  }
  virtual bool AllowCreateOnUpdate() const { return false; }
  /// Returns whether updates without a resourceVersion are accepted.
  virtual bool AllowUnconditionalUpdate() const { return true; }

  /// Returns an error if the object must not be deleted.
  virtual meta::Result<> CheckDelete(const meta::Object& /*object*/) const { return {}; }
  /// Returns whether a deletion orphans the dependents of the object unless the client requests another propagation
  /// policy.
  virtual bool OrphansByDefault() const { return false; }
  /// Returns the text of the Warning header of a deletion for which the client requests no propagation policy.
  virtual std::string_view DefaultPropagationWarning() const { return {}; }
  /// Returns whether something other than metadata.finalizers prevents the deletion of the object (spec.finalizers of
  /// namespaces).
  virtual bool HoldsBackDeletion(const meta::Object& /*object*/) const { return false; }
  /// Called when the deletion starts of an object for which HoldsBackDeletion() is true.
  virtual void PrepareForDelete(meta::Object& /*object*/) const {}

  /// Returns the seconds until the object is deleted (0: immediately), or nullopt if the kind has no graceful deletion.
  /// `asked` is gracePeriodSeconds of the client.
  virtual std::optional<std::int64_t> GracePeriod(const meta::Object& /*object*/,
                                                  std::optional<std::int64_t> /*asked*/) const {
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
/// The columns of a Table and the cells of one object. If `columns` is empty, DefaultTable() is used.
struct TablePrinter {
  std::vector<Column> columns;  // all columns in order, including Name and Age
  /// Computes the cells. They must depend only on the object and on the ages that `ages` computes, because rows are
  /// cached until one of these ages changes.
  std::function<meta::json::array(const meta::Object& object, meta::Ages& ages)> cells;
  /// The fields that these functions read. Other fields may be missing. An empty mask means all fields.
  meta::FieldMask reads;
  /// Returns the conditions of a row, such as Completed. May be empty.
  std::function<meta::json::array(const meta::Object& object)> conditions;
  /// Returns a number by which the rows of a list are sorted; rows with the same number are sorted by name. If the
  /// function is empty, rows have the order of the list.
  std::function<std::int64_t(const meta::Object& object)> order;
};

/// Executes a create that does not store its body (binding, eviction, token, access review). It receives the decoded
/// and defaulted body and returns the body of the response. `name` is the name of the object, or "" for a resource
/// without names.
using Action = std::function<Task<meta::Result<meta::Object>>(meta::RequestContext ctx, std::string name,
                                                              meta::Object body, bool dry_run)>;

/// Actions before and after writes that need I/O, such as the allocation of a cluster IP. Thread-safe. A hook that
/// fails must release what it has allocated. The functions that release something receive a CleanupContext().
class Hooks {
 public:
  virtual ~Hooks() = default;
  /// Runs before the strategy prepares and validates the object, and may change it. The name and uid of the object are
  /// set.
  virtual Task<meta::Result<>> BeginCreate(meta::RequestContext ctx, meta::Object& object);
  virtual Task<meta::Result<>> BeginUpdate(meta::RequestContext ctx, meta::Object& object, const meta::Object& old);
  /// The only functions that run in dry runs, in place of the two above. They allocate nothing, but may set the fields
  /// to values that an allocation could have.
  virtual Task<meta::Result<>> DryRunCreate(meta::RequestContext ctx, meta::Object& object);
  virtual Task<meta::Result<>> DryRunUpdate(meta::RequestContext ctx, meta::Object& object, const meta::Object& old);
  /// Releases what `loser` has allocated and `winner` does not use. After a successful update, `loser` is the old
  /// object; after an update that has failed or has to be repeated, it is the new one.
  virtual Task<> GiveBack(meta::RequestContext ctx, const meta::Object& loser, const meta::Object& winner);
  /// Releases what BeginCreate() has allocated, because the object was not created.
  virtual Task<> AbandonCreate(meta::RequestContext ctx, const meta::Object& object);
  /// Runs once, after the object was deleted. `object` is its last state.
  virtual Task<> AfterDelete(meta::RequestContext ctx, const meta::Object& object);
};

/// Checks whether the user may write the content of the object (a role must not grant more than its writer has). Runs
/// after mutating admission and before the strategy, also in dry runs. Thread-safe.
class WriteChecks {
 public:
  virtual ~WriteChecks() = default;
  virtual Task<meta::Result<>> CheckCreate(meta::RequestContext ctx, const meta::Object& object) = 0;
  virtual Task<meta::Result<>> CheckUpdate(meta::RequestContext ctx, const meta::Object& object,
                                           const meta::Object& old) = 0;
};

/// The locations of the replicas of a kind, as dotted paths such as "spec.replicas". The selector may be a string, a
/// map of labels or a LabelSelector.
struct ScalePaths {
  std::string spec_replicas = "spec.replicas";
  std::string status_replicas = "status.replicas";
  std::string selector;
};

struct Subresource {
  std::string name;  // "status", "scale", …
  meta::Gvk kind;    // the kind of the body, if it differs (autoscaling/v1 Scale)
  meta::VerbSet verbs;
  StrategyPtr strategy;
  patch::ResetFields reset_fields;
  std::shared_ptr<WriteChecks> checks;
  bool takes_path = false;               // any path may follow the name (proxy)
  const schema::Node* schema = nullptr;  // the schema of the body, if `kind` is set
  std::optional<ScalePaths> scale;
  Action create;                         // executes a create (binding, eviction, token)
  std::shared_ptr<Connector> connector;  // forwards requests to another server (exec, log, proxy)
};

struct Resource {
  meta::Gvk gvk;
  std::string plural;
  std::string singular;
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  Scope scope = Scope::kNamespaced;
  meta::VerbSet verbs;
  const schema::Node* schema = nullptr;
  StrategyPtr strategy;
  patch::ResetFields reset_fields;
  std::vector<Subresource> subresources;
  /// The path of the store below --etcd-prefix ("pods", "services/specs"). Several Resources may share one (events).
  std::string storage_prefix;
  meta::Gvk storage_gvk;
  /// If the stored version has different fields, these functions convert a document between the two versions.
  std::function<void(meta::json::object& document)> from_stored, to_stored;
  /// Annotations that stand for fields of the stored version. Tables and metadata-only representations omit them.
  std::vector<std::string> field_annotations;
  /// Returns the error about a document of a client that cannot be converted to the stored version; "" if it can.
  std::function<std::string(const meta::json::object& document)> conversion_error;
  /// Converts an object to another version for managedFields that were recorded in that version. Empty if all versions
  /// of the kind have the same fields.
  std::function<std::optional<patch::ManagerInfo::View>(const meta::Object& object, std::string_view api_version)>
      convert;
  /// The same for a kind whose conversion suspends, because another server does it. If it is set, `convert` is not
  /// used.
  std::function<Task<meta::Result<std::optional<patch::ManagerInfo::View>>>(meta::Object object,
                                                                            std::string api_version)>
      convert_suspending;
  std::chrono::seconds ttl{0};
  std::vector<std::string> selectable_fields;
  /// The error about any other field, with "{}" in place of the field.
  std::string unknown_field_text = "field label not supported: {}";
  std::vector<std::string> field_defaults;  // values of absent fields, in the order of selectable_fields
  std::function<std::vector<std::string>(const meta::Object& object)> read_fields;
  TablePrinter table;
  /// The rule for names. If empty, a name must be a DNS subdomain.
  std::function<std::vector<std::string>(std::string_view name, bool prefix)> validate_name;
  /// True if changes of the spec increment metadata.generation.
  bool generation = false;
  std::shared_ptr<Hooks> hooks;
  std::shared_ptr<WriteChecks> checks;
  /// The store of a resource whose objects are computed (componentstatuses). If it is nullptr, a resource with a
  /// storage_prefix gets a store in etcd.
  std::shared_ptr<storage::Store> store;
  /// Executes a create of a resource that stores nothing. The response is the result.
  Action create;
  /// Texts that are sent as Warning headers with every response, for example because this version is deprecated.
  std::vector<std::string> warnings;
  /// True if a DELETE returns the object instead of a Status.
  bool returns_deleted_object = false;
  /// True for namespaces: admission receives the name of the object as the namespace of the request.
  bool namespace_is_name = false;

  meta::Gvr GetGvr() const { return {gvk.group, gvk.version, plural}; }
  meta::GroupResource GetGroupResource() const { return {gvk.group, plural}; }
};

}  // namespace apimesh::registry
