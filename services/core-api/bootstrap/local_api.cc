#include "services/core-api/bootstrap/local_api.h"

#include <boost/asio/co_spawn.hpp>
#include <fmt/format.h>

#include "lib/base/log.h"
#include "lib/codec/codec.h"

namespace apimesh::core_api {
namespace {

constexpr auto kFirstPause = std::chrono::milliseconds(3), kLongestPause = std::chrono::milliseconds(500);
constexpr auto kRequestTimeout = std::chrono::seconds(10);

/// Not yet, or not now: worth another try.
bool Passes(int code) { return code == 429 || code == 500 || code == 503 || code == 504; }

rpc::Request MakeRequest(const std::string& method, const std::string& path, const std::string& body) {
  rpc::Request request;
  request.method = method;
  request.path = path;
  request.body = body;
  request.headers = {{"accept", "application/json"},
                     {"content-type", "application/json"},
                     {"user-agent", "kube-apiserver/v1.36.3 (linux/amd64) apimesh"}};
  request.user.name = "system:apiserver";
  request.user.groups = {"system:masters", "system:authenticated"};
  request.info = meta::ParseRequestInfo(method, path, "");
  request.deadline = std::chrono::steady_clock::now() + kRequestTimeout;
  return request;
}

/// A list may come in pieces, or only by Stream: then all of it is collected here.
class Collector final : public rpc::ResponseStream {
 public:
  Task<bool> WriteHead(int head_code, rpc::Headers) override {
    code = head_code;
    co_return true;
  }
  Task<bool> Write(std::vector<SharedBytes> pieces) override {
    for (const SharedBytes& piece : pieces) body.append(piece.View());
    co_return true;
  }
  void OnCancel(std::function<void()>) override {}
  void Abort() override { code = 503; }

  int code = 503;
  std::string body;
};

struct Countdown {
  std::atomic<std::size_t> left;
  std::shared_ptr<Wakeup> done = Wakeup::New();
};

}  // namespace

Task<meta::Result<meta::Object>> LocalApi::SendOnce(std::string method, std::string path, std::string body) {
  Collector collector;
  rpc::Request request = MakeRequest(method, path, body);
  rpc::Response response = co_await server_->Call(std::move(request));
  if (response.use_stream) {
    co_await server_->Stream(MakeRequest(method, path, body), collector);
  } else {
    collector.code = response.code;
    for (const SharedBytes& piece : response.body) collector.body.append(piece.View());
  }
  codec::ParseLimits limits;
  limits.bytes = 1u << 30;
  meta::Result<meta::json::value> parsed = codec::ParseJson(collector.body, {}, nullptr, limits);
  const bool readable = parsed && parsed->is_object();
  if (readable && collector.code < 300) co_return meta::Object(std::move(parsed->get_object()));
  if (readable) co_return meta::FromStatus(parsed->get_object());
  co_return meta::InternalError(fmt::format("{} {} gave {}", method, path, collector.code));
}

Task<meta::Result<meta::Object>> LocalApi::Send(std::string method, std::string path, std::string body) {
  std::chrono::milliseconds pause = kFirstPause;
  for (;;) {
    meta::Result<meta::Object> result = co_await SendOnce(method, path, body);
    if (result || stopped_ || !Passes(result.error().Code())) co_return result;
    if (pause == kLongestPause) log::Warning("{} {}: {}; trying again", method, path, result.error().Message());
    co_await Sleep(pause);
    pause = std::min(pause * 2, kLongestPause);
  }
}

Task<meta::Result<meta::Object>> LocalApi::Get(std::string path) { return Send("GET", std::move(path), ""); }

Task<meta::Result<std::vector<meta::Object>>> LocalApi::List(std::string path) {
  ASSIGN_OR_CO_RETURN(meta::Object list, co_await Send("GET", std::move(path), ""));
  std::vector<meta::Object> items;
  meta::json::value* found = meta::FindField(list.Root(), "items");
  if (found && found->is_array()) {
    for (meta::json::value& item : found->get_array()) {
      if (item.is_object()) items.emplace_back(std::move(item.get_object()));
    }
  }
  co_return items;
}

Task<meta::Result<meta::Object>> LocalApi::Create(std::string collection, meta::Object object) {
  return Send("POST", std::move(collection), codec::WriteJson(object.Root()));
}

Task<meta::Result<meta::Object>> LocalApi::Update(std::string path, meta::Object object) {
  return Send("PUT", std::move(path), codec::WriteJson(object.Root()));
}

Task<meta::Result<>> LocalApi::Delete(std::string path) {
  meta::Result<meta::Object> deleted = co_await Send("DELETE", std::move(path), "");
  if (!deleted) co_return deleted.error();
  co_return meta::Result<>();
}

Task<> LocalApi::Together(std::vector<Task<>> tasks) {
  if (tasks.empty()) co_return;
  const auto countdown = std::make_shared<Countdown>();
  countdown->left = tasks.size();
  for (Task<>& task : tasks) {
    auto ended = [countdown](std::exception_ptr error) {
      try {
        if (error) std::rethrow_exception(error);
      } catch (const std::exception& problem) {
        log::Error("start-up work ended: {}", problem.what());
      }
      if (--countdown->left == 0) countdown->done->Wake();
    };
    boost::asio::co_spawn(executor_, std::move(task), std::move(ended));
  }
  co_await Wakeup::Wait(countdown->done);
}

Task<bool> LocalApi::Sleep(Duration duration) {
  const std::shared_ptr<Wakeup> wakeup = Wakeup::New();
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) co_return false;
    std::erase_if(sleepers_, [](const std::weak_ptr<Wakeup>& sleeper) { return sleeper.expired(); });
    sleepers_.push_back(wakeup);
  }
  co_await Wakeup::Wait(wakeup, std::chrono::steady_clock::now() + duration);
  co_return !stopped_;
}

void LocalApi::Stop() {
  std::vector<std::weak_ptr<Wakeup>> sleepers;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    sleepers.swap(sleepers_);
  }
  for (const std::weak_ptr<Wakeup>& sleeper : sleepers) {
    if (const std::shared_ptr<Wakeup> wakeup = sleeper.lock()) wakeup->Wake();
  }
}

std::string CollectionPath(const meta::Object& object, std::string_view plural) {
  const meta::Gvk kind = object.GetGvk();
  const std::string root = kind.group.empty() ? "/api/" + kind.version : fmt::format("/apis/{}/{}", kind.group, kind.version);
  if (object.Namespace().empty()) return fmt::format("{}/{}", root, plural);
  return fmt::format("{}/namespaces/{}/{}", root, object.Namespace(), plural);
}

}  // namespace apimesh::core_api
