#pragma once

#include <boost/asio/steady_timer.hpp>

#include "lib/meta/field_mask.h"
#include "lib/rpc/delegate.h"
#include "services/authn-authz/state/object_sink.h"

namespace apimesh::authn_authz {

/// Keeps one ObjectSink equal to what core-api has: lists in pages, then watches, resumes, and lists again when the
/// resume point is too old. Never gives up. Owned by ClusterState; runs on its executor.
class ResourceWatch : public std::enable_shared_from_this<ResourceWatch> {
 public:
  struct Source {
    std::string path;        // "/api/v1/pods"
    std::string query;       // selectors, encoded; may be empty
    bool optional = false;   // a 404 means that there are none: the group may not be served
    bool grouped = false;    // events may wait for each other for a moment (rpc::kGrouped)
  };
  ResourceWatch(std::shared_ptr<rpc::DelegateClient> core_api, Source source, std::unique_ptr<ObjectSink> sink,
                std::function<void()> loaded);

  const std::string& Path() const { return source_.path; }
  bool Loaded() const { return is_loaded_.load(); }
  /// Why the last attempt failed; "" if it did not.
  std::string Problem() const;

  Task<> Run();
  /// From any thread; Run() ends soon after.
  void Stop();

 private:
  enum class End { kResume, kListAgain, kFailed };
  Task<meta::Result<std::string>> List();
  Task<End> Watch(std::string* resource_version);
  bool Handle(const boost::json::object& event, std::string* resource_version, End* end);
  Task<> Pause(std::chrono::milliseconds time);
  void SetProblem(std::string problem);
  void MarkLoaded();

  const std::shared_ptr<rpc::DelegateClient> core_api_;
  const Source source_;
  const std::unique_ptr<ObjectSink> sink_;
  const meta::FieldMask of_page_, of_event_;  // what is read of a page of a list, of a line of a watch
  const std::function<void()> loaded_;
  std::atomic<bool> is_loaded_ = false, stopped_ = false;
  mutable std::mutex mutex_;
  std::string problem_;                  // guarded by mutex_
  std::function<void()> cancel_stream_;  // guarded by mutex_
};

}  // namespace apimesh::authn_authz
