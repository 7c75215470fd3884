#include "lib/endpoint/write/converted_views.h"

#include "lib/codec/codec.h"

namespace apimesh::endpoint {

std::optional<ConvertedViews::View> ConvertedViews::Find(const meta::Object& object, std::string_view api_version) {
  Key key(api_version, codec::WriteJson(object.Root()));
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  for (const Missing& one : missing_) {
    if (one.key == key) return std::nullopt;
  }
  missing_.push_back({std::move(key), object});
  return std::nullopt;
}

Task<meta::Result<bool>> ConvertedViews::ConvertMissing() {
  if (missing_.empty()) co_return false;
  if (++rounds_ > kMaxRounds) co_return meta::InternalError("managedFields need too many conversions");
  std::vector<Missing> missing = std::exchange(missing_, {});
  for (Missing& one : missing) {
    ASSIGN_OR_CO_RETURN(std::optional<View> view, co_await convert_(std::move(one.object), one.key.first));
    known_.emplace(std::move(one.key), std::move(view));
  }
  co_return true;
}

}  // namespace apimesh::endpoint
