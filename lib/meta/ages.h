#pragma once

#include <string>
#include <string_view>

#include "lib/base/clock.h"

namespace apimesh::meta {

/// Formats ages relative to one moment, and records until when all returned texts stay valid. Code that prints ages
/// gets this class instead of the current time, so that its output can be cached until then.
class Ages {
 public:
  explicit Ages(WallTime now) : now_(now) {}
  Ages(const Ages&) = delete;

  /// Returns the age of an object created at `since` as HumanDuration, or "<unknown>" if `since` is not a time.
  std::string Of(std::string_view since);
  /// Returns the first moment at which one of the ages returned so far has another text.
  WallTime Until() const { return until_; }

 private:
  const WallTime now_;
  WallTime until_ = WallTime::max();
};

}  // namespace apimesh::meta
