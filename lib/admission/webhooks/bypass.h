#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "lib/base/clock.h"
#include "lib/meta/object.h"

/// Break-glass for webhooks (docs/decisions/0026): an administrator can suspend the failure policy Fail of a
/// configuration for a limited time with an annotation.
namespace apimesh::admission::webhooks {

/// The annotation of a webhook configuration. Its value is a time in RFC 3339. Until then, calls of its webhooks that
/// fail are ignored. Calls that are answered count as always, so a webhook that works still rejects requests.
inline constexpr std::string_view kBypassAnnotation = "apimesh.io/ignore-webhook-failures-until";
/// A bypass that ends later than this after the current time has no effect, so that a forgotten one cannot last.
inline constexpr std::chrono::hours kLongestBypass{24};

/// Returns the time in the annotation, or nullopt if there is none or it cannot be read.
std::optional<WallTime> BypassedUntil(const meta::Object& configuration);

/// Returns whether a bypass until this time is in force.
bool IsBypassed(std::optional<WallTime> until, WallTime now);

}  // namespace apimesh::admission::webhooks
