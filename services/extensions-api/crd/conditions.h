#pragma once

#include <string>
#include <string_view>

#include "lib/base/clock.h"
#include "lib/meta/object.h"

/// The conditions of a CustomResourceDefinition.
namespace apimesh::extensions_api {

inline constexpr std::string_view kCleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

struct Condition {
  std::string type, status, reason, message;
  bool operator==(const Condition&) const = default;
};

/// Empty `type`: there is no such condition.
Condition FindCondition(const meta::Object& crd, std::string_view type);
bool IsTrue(const meta::Object& crd, std::string_view type);
/// Adds or overwrites it. The time of the last transition moves with the status only.
void SetCondition(meta::Object& crd, const Condition& condition, WallTime now);
/// True if there was one.
bool RemoveCondition(meta::Object& crd, std::string_view type);

bool HasCleanupFinalizer(const meta::Object& crd);

}  // namespace apimesh::extensions_api
