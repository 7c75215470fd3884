#include "lib/admission/plugins/node_restriction/cluster_reader.h"

#include <fmt/format.h>

#include "lib/admission/plugins/node_restriction/fields.h"
#include "lib/codec/codec.h"

namespace apimesh::admission::node_restriction {

Task<meta::Result<meta::Object>> ClusterReader::Get(meta::RequestContext ctx, ReadResource resource, std::string ns,
                                                    std::string name) const {
  const meta::GroupResource wanted{resource.group, resource.plural};
  const storage::StorePtr store = find_store_ ? find_store_(wanted) : nullptr;
  if (!store) co_return PlainError(fmt::format("{} cannot be read here", wanted.ToString()));
  const meta::ApiError not_found = meta::NotFound(meta::GroupResource{resource.group, resource.singular}, name);
  const meta::Result<storage::Key> key = storage::KeyFor(resource.namespaced, ns, name);
  if (!key) co_return not_found;
  // The options have names because GCC 12 destroys an aggregate twice that is made inside a co_await expression.
  const storage::GetOptions cached{.resource_version = "0"};
  const storage::GetOptions newest;
  meta::Result<storage::EntryPtr> entry = co_await store->Get(ctx, *key, cached);
  if (!entry && entry.error().Is("NotFound")) entry = co_await store->Get(ctx, *key, newest);
  if (!entry) co_return entry.error().Is("NotFound") ? not_found : entry.error();
  ASSIGN_OR_CO_RETURN(const meta::json::value document, codec::ParseJson((*entry)->JsonText(), meta::NewArena()));
  if (!document.is_object()) co_return PlainError(fmt::format("{} \"{}\" is not an object", wanted.ToString(), name));
  co_return meta::Object(document.get_object());
}

}  // namespace apimesh::admission::node_restriction
