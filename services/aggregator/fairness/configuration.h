#pragma once

#include <map>
#include <optional>
#include <string>

#include "lib/admission/objects/objects.h"
#include "services/aggregator/fairness/queuing/queue_set.h"

namespace apimesh::aggregator {

/// The spec of a PriorityLevelConfiguration.
struct LevelSettings {
  std::string uid;
  QueueSettings queues;
  int shares = 0;                        // of the seats of the server
  int lendable_percent = 0;              // of its seats that other levels may use
  std::optional<int> borrowing_percent;  // of its seats that it may add from other levels; nullopt: no limit

  /// Returns nullopt for an object that validation would refuse.
  static std::optional<LevelSettings> From(const meta::Object& object);
};

/// The names of the objects that always exist: "exempt" never waits, and "catch-all" takes what no other schema
/// matches.
inline constexpr std::string_view kExempt = "exempt", kCatchAll = "catch-all";

/// All objects that configure priority and fairness, by name.
struct FairnessObjects {
  std::map<std::string, admission::ObjectPtr, std::less<>> schemas, levels;

  /// Adds the mandatory objects that do not exist, so that every request is matched by a schema.
  void AddMandatory();
};

}  // namespace apimesh::aggregator
