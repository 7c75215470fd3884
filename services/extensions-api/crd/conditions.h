#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lib/base/clock.h"
#include "lib/meta/object.h"

/// The conditions of a CustomResourceDefinition.
namespace apimesh::extensions_api {

inline constexpr const char* kInvalidCaBundle = "InvalidCABundle";  // a reason of Established
inline constexpr std::string_view kCleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

struct Condition {
  std::string type, status, reason, message;
  bool operator==(const Condition&) const = default;
};

/// Returns a condition with an empty `type` if there is none.
Condition FindCondition(const meta::Object& crd, std::string_view type);
/// Returns when the status of the condition has changed last.
std::optional<WallTime> TransitionTime(const meta::Object& crd, std::string_view type);
bool IsTrue(const meta::Object& crd, std::string_view type);
/// Adds or overwrites a condition. The last transition time changes only with the status.
void SetCondition(meta::Object& crd, const Condition& condition, WallTime now);
/// Returns true if the condition existed.
bool RemoveCondition(meta::Object& crd, std::string_view type);

bool HasCleanupFinalizer(const meta::Object& crd);

}  // namespace apimesh::extensions_api
