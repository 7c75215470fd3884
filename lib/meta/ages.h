#pragma once

#include <string>
#include <string_view>

#include "lib/base/clock.h"

namespace apimesh::meta {

/// Tells ages as of one moment, and knows for how long all that it told stays true. Who makes a text of them gets this and not the
/// time itself, so that the text can be kept until then.
class Ages {
 public:
  explicit Ages(WallTime now) : now_(now) {}
  Ages(const Ages&) = delete;

  /// The age of something made at `since`: HumanDuration, or "<unknown>" if `since` is no time.
  std::string Of(std::string_view since);
  /// The first moment at which one of the ages told so far has another text.
  WallTime Until() const { return until_; }

 private:
  const WallTime now_;
  WallTime until_ = WallTime::max();
};

}  // namespace apimesh::meta
