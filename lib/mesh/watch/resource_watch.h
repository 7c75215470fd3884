#pragma once

#include <boost/asio/steady_timer.hpp>

#include "lib/mesh/api_client.h"
#include "lib/mesh/watch/object_sink.h"
#include "lib/meta/field_mask.h"

namespace apimesh::mesh {

/// Keeps one ObjectSink equal to a resource of another process: it lists the resource in pages, watches it, resumes
/// after a failure, and lists again when the resume position is too old. It retries until Stop() is called. The caller
/// spawns Run() once; Run() and the calls of the sink run on that executor.
class ResourceWatch : public std::enable_shared_from_this<ResourceWatch> {
 public:
  struct Source {
    std::string path;       // for example "/api/v1/pods"
    std::string query;      // selectors, URL-encoded; may be empty
    bool optional = false;  // a 404 counts as an empty list, because the group may not be served
    bool grouped = false;   // events may be delayed briefly and sent together (WATCH_PHASE_GROUPED)
    std::string user_agent = "apimesh";
  };
  ResourceWatch(std::shared_ptr<DelegateClient> server, Source source, std::unique_ptr<ObjectSink> sink,
                std::function<void()> loaded, const Clock& clock);

  const std::string& Path() const { return source_.path; }
  bool Loaded() const { return is_loaded_.load(); }
  /// The error of the last attempt; "" if it succeeded.
  std::string Problem() const;

  Task<> Run();
  /// May be called from any thread; Run() ends soon after.
  void Stop();

 private:
  enum class End { kResume, kListAgain, kFailed };
  ApiRequest MakeRequest(std::string query) const;
  Task<meta::Result<std::string>> List();
  Task<End> Watch(std::string* resource_version);
  bool Handle(const boost::json::object& event, std::string* resource_version, End* end);
  void SetCancel(std::function<void()> cancel);
  Task<> Pause(std::chrono::milliseconds time);
  void SetProblem(std::string problem);
  void MarkLoaded();

  const std::shared_ptr<DelegateClient> server_;
  const ApiClient api_;
  const Source source_;
  const std::unique_ptr<ObjectSink> sink_;
  const meta::FieldMask of_page_, of_event_;  // the fields that are parsed of a list page and of a watch event
  const std::function<void()> loaded_;
  const Clock& clock_;
  std::atomic<bool> is_loaded_ = false, stopped_ = false;
  mutable std::mutex mutex_;
  std::string problem_;                  // guarded by mutex_
  std::function<void()> cancel_stream_;  // guarded by mutex_
};

}  // namespace apimesh::mesh
