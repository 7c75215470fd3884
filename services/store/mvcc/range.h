#pragma once

#include <string>
#include <string_view>

#include "services/store/mvcc/store.h"

namespace etcdserverpb {
class RangeRequest;
}

namespace apimesh::store {

/// Answers a range as of `newest` (or the older revision it asks for); `out` gets the encoded RangeResponse.
Status ExecuteRange(const Store& store, const etcdserverpb::RangeRequest& request, Revision newest,
                    std::string_view header, std::string& out);

}  // namespace apimesh::store
