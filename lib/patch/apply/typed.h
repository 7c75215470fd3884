#pragma once

#include <string>
#include <vector>

#include "lib/patch/apply/field_set.h"
#include "lib/schema/schema.h"

/// Operations on documents by their schema: the paths they have, how two documents differ, how they merge. Where the
/// schema specifies nothing (raw JSON, unknown fields of custom resources), types follow the values: objects are merged
/// key by key, lists are atomic.
namespace apimesh::patch {

/// The difference between two versions of a document. A path is in at most one of the sets.
struct Changes {
  FieldSet removed;
  FieldSet modified;
  FieldSet added;
};

/// The errors of a document, with kube-apiserver's texts. Empty if there are none.
using TypeErrors = std::vector<std::string>;
/// Adds an error. Each of 100,000 items may have one, so at most 1,000 errors are kept, and none after 1 MiB of text.
void AddTypeError(TypeErrors& errors, std::string error);
bool IsFull(const TypeErrors& errors);
std::string ToString(const TypeErrors& errors);

/// Reports unknown fields, wrong types, items of list maps without keys, and duplicates unless they are allowed.
TypeErrors ValidateTypes(const schema::Node& node, const meta::json::object& value, bool allow_duplicates);
/// Returns whether a value has the types of its schema. Unknown fields and duplicate items are allowed.
bool FitsType(const schema::Node& node, const meta::json::value& value);

/// Returns the paths of the lists, maps and structs in a validated document that its schema declares as atomic, such as
/// ".spec.template.spec.containers[0].command". Values of maps are not visited, as in kube-apiserver.
std::vector<std::string> AtomicPaths(const schema::Node& node, const meta::json::object& value);

// The following functions expect validated documents. An item whose keys are missing is reported in `errors` and
// skipped. The sets refer to names in the documents and texts in `arena`.

/// Compares two documents. Fields that kube-apiserver always encodes count as present, with their zero value, in both
/// documents.
Changes CompareTyped(const schema::Node& node, const meta::json::object& before, const meta::json::object& after,
                     TextArena& arena, TypeErrors& errors);
/// Returns every leaf and every list item of a document.
FieldSet ToFieldSet(const schema::Node& node, const meta::json::object& value, TextArena& arena);
/// Returns `live` merged with `config`, whose values take precedence.
meta::json::object MergeTyped(const schema::Node& node, const meta::json::object& live,
                              const meta::json::object& config, TypeErrors& errors);
/// Returns `value` without the members of `items`.
meta::json::object RemoveItems(const schema::Node& node, const meta::json::object& value, const FieldSet& items);
/// Replaces paths into atomic parts of the schema by the path of the atomic part; they exist if a later version of the
/// schema made it atomic. Returns whether `set` changed.
bool ReconcileWithSchema(const schema::Node& node, FieldSet& set);

}  // namespace apimesh::patch
