#pragma once

#include <string>
#include <vector>

#include "lib/patch/field_set.h"
#include "lib/schema/schema.h"

/// Documents seen through their schema: which paths they have, how two of them differ, how they merge. Types follow the
/// values where the schema says nothing (raw JSON, unknown fields of custom resources): objects are merged key by key, lists
/// are atomic.
namespace apimesh::patch {

/// How a document became another one. A path is in at most one of the sets.
struct Changes {
  FieldSet removed;
  FieldSet modified;
  FieldSet added;
};

/// What is wrong with a document, as the reference puts it. Empty: nothing.
using TypeErrors = std::vector<std::string>;
/// Each of 100,000 items may have one: at most 1,000 errors are kept, and no more once they have 1 MiB of text.
void AddTypeError(TypeErrors& errors, std::string error);
bool IsFull(const TypeErrors& errors);
std::string ToString(const TypeErrors& errors);

/// Unknown fields, wrong types, items of list maps without keys, and duplicates unless allowed.
TypeErrors ValidateTypes(const schema::Node& node, const meta::json::object& value, bool allow_duplicates);

// The rest trusts its documents; an item whose keys are missing is an error in `errors` and skipped. Sets borrow names from
// the documents and texts from `arena`.

/// Fields that the reference always writes count as there, with their zero value, in both documents.
Changes CompareTyped(const schema::Node& node, const meta::json::object& before, const meta::json::object& after,
                     TextArena& arena, TypeErrors& errors);
/// Every leaf and every item that a document mentions.
FieldSet ToFieldSet(const schema::Node& node, const meta::json::object& value, TextArena& arena);
/// `live` with everything that `config` says.
meta::json::object MergeTyped(const schema::Node& node, const meta::json::object& live, const meta::json::object& config,
                             TypeErrors& errors);
/// `value` without the members of `items`.
meta::json::object RemoveItems(const schema::Node& node, const meta::json::object& value, const FieldSet& items);
/// A set as it must be since parts of the schema became atomic. True if `set` changed.
bool ReconcileWithSchema(const schema::Node& node, FieldSet& set);

}  // namespace apimesh::patch
