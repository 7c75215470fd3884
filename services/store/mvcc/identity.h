#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "services/store/mvcc/wire.h"

namespace apimesh::store {

/// Who answers: part of every response header.
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

/// The header of a response inside a transaction's: the revision only.
inline std::string InnerHeader(Revision revision) {
  std::string out;
  wire::AppendInteger(out, 3, revision);
  return out;
}

/// etcd's ids: made of the peer URLs and the cluster's token, so that the same flags give the same ids.
void DeriveIds(const std::string& cluster_token, Identity& identity);

}  // namespace apimesh::store
