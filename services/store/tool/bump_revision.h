#pragma once

#include <cstdint>
#include <string>

#include "services/store/durability/base.h"

namespace apimesh::store::tool {

/// Increases the revision and marks everything before it as compacted. The cluster may have written revisions after the
/// copy that clients have seen: without this, new writes would get the same revisions again, and a client that resumes
/// its watch would miss them. With it, the watch ends with "compacted", and the client lists again. Returns the new
/// revision.
Revision BumpRevision(Base& base, std::int64_t by);

/// Parses the value of --bump-revision. Throws std::invalid_argument.
std::int64_t ReadBump(const std::string& text);

}  // namespace apimesh::store::tool
