#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "services/store/mvcc/wire.h"

namespace apimesh::store {

/// The identity of the responding member, which is part of every response header.
struct Identity {
  std::string name = "default";
  std::uint64_t cluster_id = 0;
  std::uint64_t member_id = 0;
  std::uint64_t term = 2;
  std::vector<std::string> peer_urls, client_urls;

  /// etcdserverpb.ResponseHeader.
  std::string Header(Revision revision) const {
    std::string out;
    wire::AppendInteger(out, 1, cluster_id);
    wire::AppendInteger(out, 2, member_id);
    wire::AppendInteger(out, 3, revision);
    wire::AppendInteger(out, 4, term);
    return out;
  }
};

/// The header of a response inside a transaction's response, which contains only the revision.
inline std::string InnerHeader(Revision revision) {
  std::string out;
  wire::AppendInteger(out, 3, revision);
  return out;
}

/// Derives the ids as etcd does, from the peer URLs and the cluster token, so that the same flags result in the same
/// ids.
void DeriveIds(const std::string& cluster_token, Identity& identity);

}  // namespace apimesh::store
