#include "services/store/mvcc/identity.h"

#include <algorithm>

#include <openssl/sha.h>

namespace apimesh::store {
namespace {

std::uint64_t FirstEightOfSha1(std::string_view bytes) {
  unsigned char digest[SHA_DIGEST_LENGTH];
  SHA1(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest);
  std::uint64_t id = 0;
  for (int i = 0; i < 8; ++i) id = id << 8 | digest[i];
  return id;
}

}  // namespace

void DeriveIds(const std::string& cluster_token, Identity& identity) {
  std::vector<std::string> urls = identity.peer_urls;
  std::ranges::sort(urls);
  std::string member;
  for (const std::string& url : urls) member += url;
  identity.member_id = FirstEightOfSha1(member + cluster_token);
  std::string cluster;
  for (int shift = 56; shift >= 0; shift -= 8) cluster.push_back(static_cast<char>(identity.member_id >> shift));
  identity.cluster_id = FirstEightOfSha1(cluster);
}

}  // namespace apimesh::store
