#include "lib/mesh/watch/resource_watch.h"

#include <set>

#include "lib/base/log.h"
#include "lib/base/text/url.h"
#include "lib/codec/json/json_parts.h"
#include "lib/mesh/watch/line_reader.h"
#include "lib/meta/object.h"
#include "proto/mesh/v1/delegate.pb.h"

namespace apimesh::mesh {
namespace {

constexpr auto kFirstPause = std::chrono::milliseconds(50), kLongestPause = std::chrono::milliseconds(250);
constexpr auto kPauseWhenAbsent = std::chrono::seconds(10);
constexpr auto kListTimeout = std::chrono::seconds(60);
constexpr int kPageSize = 500;
constexpr int kWatchSeconds = 570;
const meta::FieldMask kEverything;

std::pair<std::string, std::string> NameOf(const boost::json::object& object) {
  return {std::string(meta::FindString(object, "metadata", "namespace")),
          std::string(meta::FindString(object, "metadata", "name"))};
}

/// The fields that `sink` reads of the objects below `parent`, and `more`.
meta::FieldMask MaskOf(const ObjectSink& sink, std::string_view parent, std::initializer_list<std::string_view> more) {
  meta::FieldMask mask(more);
  const std::vector<std::string> reads = sink.Reads();
  if (reads.empty()) mask.Add(parent);
  for (const std::string& path : reads) mask.Add(fmt::format("{}.{}", parent, path));
  for (const char* path : {"metadata.name", "metadata.namespace"}) mask.Add(fmt::format("{}.{}", parent, path));
  return mask;
}

}  // namespace

ResourceWatch::ResourceWatch(std::shared_ptr<DelegateClient> server, Source source, std::unique_ptr<ObjectSink> sink,
                             std::function<void()> loaded, const Clock& clock)
    : server_(std::move(server)),
      api_(server_),
      source_(std::move(source)),
      sink_(std::move(sink)),
      of_page_(MaskOf(*sink_, "items", {"metadata"})),
      of_event_(MaskOf(*sink_, "object", {"type", "object.code", "object.metadata.resourceVersion"})),
      loaded_(std::move(loaded)),
      clock_(clock) {}

Task<> ResourceWatch::Run() {
  const std::shared_ptr<ResourceWatch> self = shared_from_this();
  std::chrono::milliseconds pause = kFirstPause;
  while (!stopped_) {
    auto listed = co_await List();
    if (!listed) {
      if (source_.optional && listed.error().Code() == 404) {
        for (const auto& [ns, name] : sink_->Names()) sink_->Remove(ns, name);
        MarkLoaded();
        co_await Pause(kPauseWhenAbsent);
        continue;
      }
      SetProblem(listed.error().Message());
      co_await Pause(pause);
      pause = std::min(pause * 2, kLongestPause);
      continue;
    }
    MarkLoaded();
    pause = kFirstPause;
    std::string resource_version = std::move(*listed);
    for (End end = End::kResume; !stopped_ && end != End::kListAgain;) {
      const std::string before = resource_version;
      end = co_await Watch(&resource_version);
      if (end == End::kFailed) {
        pause = resource_version == before ? std::min(pause * 2, kLongestPause) : kFirstPause;
        co_await Pause(pause);
      } else {
        pause = kFirstPause;
      }
    }
    co_await Pause(kFirstPause);
  }
}

Task<meta::Result<std::string>> ResourceWatch::List() {
  std::set<std::pair<std::string, std::string>> seen;
  std::string resource_version, token;
  do {
    std::string query = fmt::format("limit={}", kPageSize);
    if (!source_.query.empty()) query += "&" + source_.query;
    if (!token.empty()) query += "&continue=" + EncodeQuery(token);
    ApiRequest request = MakeRequest(std::move(query));
    request.deadline = clock_.Steady() + kListTimeout;
    request.on_cancel = [this](std::function<void()> cancel) { SetCancel(std::move(cancel)); };
    const Response response = co_await api_.Send(std::move(request));
    if (stopped_) co_return meta::ServiceUnavailable("stopped");
    // The 404 of a group that is not served has a plain text body.
    if (response.code == 404) co_return meta::NotFound(meta::GroupResource(), source_.path);
    const std::string body = response.Text();
    const auto value = codec::ParseJsonParts(body, response.code == 200 ? of_page_ : kEverything, meta::NewArena());
    if (!value || !value->is_object()) co_return meta::ServiceUnavailable("the server did not answer with JSON");
    const boost::json::object& page = value->get_object();
    if (response.code != 200) co_return meta::FromStatus(page);
    if (const boost::json::value* items = meta::FindField(page, "items"); items && items->is_array()) {
      for (const boost::json::value& item : items->get_array()) {
        if (!item.is_object()) continue;
        seen.insert(NameOf(item.get_object()));
        sink_->Set(item.get_object());
      }
    }
    resource_version = meta::FindString(page, "metadata", "resourceVersion");
    token = meta::FindString(page, "metadata", "continue");
  } while (!token.empty());
  for (const auto& name : sink_->Names()) {
    if (!seen.contains(name)) sink_->Remove(name.first, name.second);
  }
  co_return resource_version;
}

Task<ResourceWatch::End> ResourceWatch::Watch(std::string* resource_version) {
  End end = End::kResume;
  std::string query = fmt::format("watch=true&allowWatchBookmarks=true&timeoutSeconds={}&resourceVersion={}",
                                  kWatchSeconds, *resource_version);
  if (!source_.query.empty()) query += "&" + source_.query;
  const auto on_line = [this, resource_version, &end](std::string_view line) {
    const auto value = codec::ParseJsonParts(line, of_event_, meta::NewArena());
    if (!value || !value->is_object()) return true;
    return Handle(value->get_object(), resource_version, &end) && !stopped_;
  };
  LineReader reader(on_line, [this](std::function<void()> cancel) { SetCancel(std::move(cancel)); });
  Request request = ToRequest(MakeRequest(std::move(query)));
  if (source_.grouped) request.watch_phase = v1::WATCH_PHASE_GROUPED;
  co_await server_->Stream(std::move(request), reader);
  SetCancel(nullptr);
  if (reader.Code() == 410) co_return End::kListAgain;
  if (reader.Code() != 200) {
    SetProblem(fmt::format("watch answered {}", reader.Code()));
    co_return End::kFailed;
  }
  co_return reader.Aborted() && end == End::kResume ? End::kFailed : end;
}

bool ResourceWatch::Handle(const boost::json::object& event, std::string* resource_version, End* end) {
  const std::string_view type = meta::FindString(event, "type");
  const boost::json::value* value = meta::FindField(event, "object");
  if (!value || !value->is_object()) return true;
  const boost::json::object& object = value->get_object();
  if (type == "ERROR") {
    const boost::json::value* code = meta::FindField(object, "code");
    *end = code && code->is_int64() && code->get_int64() == 410 ? End::kListAgain : End::kFailed;
    return false;
  }
  if (type == "ADDED" || type == "MODIFIED") sink_->Set(object);
  if (type == "DELETED") {
    const auto [ns, name] = NameOf(object);
    sink_->Remove(ns, name);
  }
  if (const std::string_view version = meta::FindString(object, "metadata", "resourceVersion"); !version.empty()) {
    *resource_version = version;
  }
  return true;
}

ApiRequest ResourceWatch::MakeRequest(std::string query) const {
  ApiRequest request;
  request.path = source_.path;
  request.query = std::move(query);
  request.user_agent = source_.user_agent;
  return request;
}

void ResourceWatch::SetCancel(std::function<void()> cancel) {
  const std::lock_guard lock(mutex_);
  cancel_stream_ = std::move(cancel);
}

Task<> ResourceWatch::Pause(std::chrono::milliseconds time) {
  if (stopped_) co_return;
  boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, time);
  co_await timer.async_wait(boost::asio::use_awaitable);
}

void ResourceWatch::Stop() {
  stopped_ = true;
  std::function<void()> cancel;
  {
    const std::lock_guard lock(mutex_);
    cancel = std::move(cancel_stream_);
    cancel_stream_ = nullptr;
  }
  if (cancel) cancel();
}

std::string ResourceWatch::Problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

void ResourceWatch::SetProblem(std::string problem) {
  const std::lock_guard lock(mutex_);
  if (problem != problem_ && !problem.empty()) log::Info("watching {}: {}", source_.path, problem);
  problem_ = std::move(problem);
}

void ResourceWatch::MarkLoaded() {
  SetProblem("");
  if (!is_loaded_.exchange(true)) loaded_();
}

}  // namespace apimesh::mesh
