#include "services/extensions-api/crd/crd_store.h"

#include "lib/codec/codec.h"
#include "lib/registry/object_meta.h"
#include "lib/schema/builtin.h"

namespace apimesh::extensions_api {
namespace {

using storage::Store;
using AttemptResult = meta::Result<std::optional<Store::Update>>;

struct Attempt {
  CrdChange change;
  bool ends = false;
};

Task<AttemptResult> Try(std::shared_ptr<Attempt> attempt, const meta::Object* current) {
  static const schema::Node& node =
      *schema::Builtin().FindKind({"apiextensions.k8s.io", "v1", "CustomResourceDefinition"});
  meta::Object crd = *current;
  attempt->ends = false;
  if (!attempt->change(crd)) co_return std::optional<Store::Update>();
  attempt->ends = !crd.DeletionTimestamp().empty() && registry::Finalizers(crd).empty();
  if (attempt->ends) co_return std::optional<Store::Update>();
  CO_RETURN_IF_ERROR(codec::Normalise(crd.Root(), node, nullptr));
  co_return std::optional<Store::Update>(Store::Update{std::move(crd)});
}

Task<meta::Result<>> Accept(const meta::Object&) { co_return meta::Result<>(); }

}  // namespace

Task<meta::Result<>> ChangeCrd(storage::StorePtr crds, std::string name, std::string uid, CrdChange change) {
  const meta::RequestContext ctx;
  const storage::Key key{name};
  const storage::Preconditions same{.uid = uid};
  const auto attempt = std::make_shared<Attempt>();
  attempt->change = std::move(change);
  const Store::UpdateFn update = [attempt](const meta::Object* current) { return Try(attempt, current); };
  const meta::Result<Store::UpdateResult> result = co_await crds->GuaranteedUpdate(ctx, key, same, false, update);
  if (!result) {
    if (result.error().Is(meta::Reason::kNotFound) || result.error().Is(meta::Reason::kConflict))
      co_return meta::Result<>();
    co_return result.error();
  }
  if (!attempt->ends) co_return meta::Result<>();
  const Store::ValidateFn accept = &Accept;
  const meta::Result<storage::EntryPtr> gone = co_await crds->Delete(ctx, key, same, accept);
  if (!gone && !gone.error().Is(meta::Reason::kNotFound) && !gone.error().Is(meta::Reason::kConflict))
    co_return gone.error();
  co_return meta::Result<>();
}

}  // namespace apimesh::extensions_api
