#include "lib/admission/webhooks/bypass.h"

#include "lib/meta/time.h"

namespace apimesh::admission::webhooks {

std::optional<WallTime> BypassedUntil(const meta::Object& configuration) {
  const meta::json::string* text = configuration.Annotation(kBypassAnnotation);
  return text ? meta::ParseTime(*text) : std::nullopt;
}

bool IsBypassed(std::optional<WallTime> until, WallTime now) {
  return until && now < *until && *until - now <= kLongestBypass;
}

}  // namespace apimesh::admission::webhooks
