#pragma once

#include <string>
#include <string_view>

#include "services/store/mvcc/store.h"

namespace etcdserverpb {
class RangeRequest;
}

namespace apimesh::store {

/// Executes a range request at `newest` or at the older revision that it names. Writes the encoded RangeResponse to
/// `out`.
Status ExecuteRange(const Store& store, const etcdserverpb::RangeRequest& request, Revision newest,
                    std::string_view header, std::string& out);

}  // namespace apimesh::store
