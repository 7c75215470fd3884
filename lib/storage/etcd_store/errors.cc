#include "lib/storage/etcd_store/errors.h"

#include <fmt/format.h>

#include "lib/meta/errors/field_error.h"

namespace apimesh::storage {

meta::ApiError FromEtcd(const etcd::Error& error) {
  using Code = etcd::Error::Code;
  switch (error.code) {
    case Code::kUnavailable:
      return meta::ServiceUnavailable(fmt::format("the store is not reachable: {}", error.message), 1);
    case Code::kDeadlineExceeded:
    case Code::kCancelled: return meta::Timeout(fmt::format("the store did not answer in time: {}", error.message), 1);
    case Code::kAmbiguous: return OutcomeUnknown();
    // gRPC reports its own limit with a different text.
    case Code::kTooLarge: return meta::RequestEntityTooLarge("etcdserver: request is too large");
    case Code::kCompacted: return ListExpired();
    default: return meta::InternalError(error.message);
  }
}

bool IsTooLarge(const meta::ApiError& error) {
  const std::vector<meta::ApiError::Cause>& causes = error.Get().causes;
  return !causes.empty() && causes[0].reason == "ResourceVersionTooLarge";
}

meta::ApiError ListExpired() { return meta::Expired("The resourceVersion for the provided list is too old."); }

meta::ApiError ContinueExpired(std::string token) {
  return meta::Expired(
      "The provided continue parameter is too old to display a consistent list result. You can start a new list "
      "without "
      "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. "
      "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or "
      "deleted "
      "between the time the first chunk was returned and now may show up in the list.",
      std::move(token));
}

meta::ApiError WatchTooOld(Revision asked, Revision oldest) {
  return meta::Expired(fmt::format("too old resource version: {} ({})", asked, oldest));
}

meta::ApiError WatchExpired() { return meta::Expired("The resourceVersion for the provided watch is too old."); }

meta::ApiError NotReady() { return meta::TooManyRequests("storage is (re)initializing", 1); }

meta::ApiError CacheBehind() { return meta::Timeout("the cache is behind the store, please try again", 1); }

meta::ApiError OutcomeUnknown() {
  static const meta::ApiError error =
      meta::Timeout("the store did not confirm the write: it may or may not have happened", 1);
  return error;
}

// Copies of an error share its data.
bool IsOutcomeUnknown(const meta::ApiError& error) { return &error.Get() == &OutcomeUnknown().Get(); }

meta::ApiError NotWrittenInTime() {
  return meta::Timeout("the object was changed by others until the time for the write was over", 1);
}

meta::ApiError PreconditionFailed(const ResourceConfig& config, std::string_view name, std::string_view etcd_key,
                                  std::string_view why) {
  return meta::Conflict(config.resource, name,
                        fmt::format("StorageError: invalid object, Code: 4, Key: {}, ResourceVersion: 0, "
                                    "AdditionalErrorMsg: Precondition failed: {}",
                                    etcd_key, why));
}

meta::ApiError ObjectIsReadable(const meta::GroupResource& resource, std::string_view name) {
  meta::FieldErrors errors;
  errors.push_back(meta::Invalid("ignoreStoreReadErrorWithClusterBreakingPotential", "true",
                                 "is exclusively used to delete corrupt object(s), try again by removing this option"));
  return meta::Invalid({resource.group, resource.resource}, name, errors);
}

}  // namespace apimesh::storage
