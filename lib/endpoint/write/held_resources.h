#pragma once

#include <exception>
#include <optional>
#include <utility>

#include "lib/endpoint/request.h"

namespace apimesh::endpoint {

/// The resources that the hooks of a kind have allocated for one write (addresses, ports). They belong to the written
/// object if the write has succeeded or its outcome is unknown; otherwise they are released. A dry run allocates
/// nothing.
class HeldResources {
 public:
  HeldResources(RequestPtr request, bool dry_run);

  /// Allocates resources for an object that is to be created (`old` is nullptr) or that replaces `old`.
  Task<meta::Result<>> Take(meta::Object& object, const meta::Object* old);
  /// Records that the store may have written the object from now on.
  void HandToStore(const meta::Object& object);
  /// Releases the allocated resources, because the write has not happened. A later attempt may call Take() again.
  Task<> Release();

  /// Runs `write`, which calls the functions above, and then releases what is no longer needed: the allocated resources
  /// if the write has failed, those of the old object if it has succeeded, and nothing if the outcome is unknown.
  template <class T>
  Task<meta::Result<T>> During(Task<meta::Result<T>> write) {
    // A coroutine cannot use co_await in a catch block.
    std::optional<meta::Result<T>> result;
    std::exception_ptr thrown;
    try {
      result.emplace(co_await std::move(write));
    } catch (...) {
      thrown = std::current_exception();
    }
    const meta::ApiError* error = nullptr;
    meta::ApiError copy;
    if (result && !*result) {
      copy = result->error();
      error = &copy;
    }
    if (taken_) co_await Finish(result && *result, error);
    if (thrown) std::rethrow_exception(thrown);
    co_return std::move(*result);
  }

 private:
  struct Taken {
    meta::Object object;                 // the object after the hooks have run
    std::optional<meta::Object> old;     // set for an update
    std::optional<meta::Object> stored;  // set while the store may have written it
  };
  /// `error` is nullptr if the write has succeeded or has thrown an exception.
  Task<> Finish(bool written, const meta::ApiError* error);

  const RequestPtr request_;
  registry::Hooks* const hooks_;  // nullptr if the kind has no hooks, or for a subresource
  const bool dry_run_;
  std::optional<Taken> taken_;
};

/// Releases the resources of a deleted object. `last` is its state when it was deleted. Only the request that has
/// deleted the object may call this, because the resources may soon belong to another object.
Task<> RunAfterDelete(const ResourceRequest& request, const storage::Entry& last);

}  // namespace apimesh::endpoint
