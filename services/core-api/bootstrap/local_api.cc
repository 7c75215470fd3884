#include "services/core-api/bootstrap/local_api.h"

#include <boost/asio/co_spawn.hpp>
#include <fmt/format.h>

#include "lib/base/log.h"
#include "lib/codec/codec.h"
#include "lib/mesh/in_process.h"

namespace apimesh::core_api {
namespace {

constexpr auto kFirstPause = std::chrono::milliseconds(3), kLongestPause = std::chrono::milliseconds(500);
constexpr auto kRequestTimeout = std::chrono::seconds(10);

/// Whether a request that failed with this status code is retried.
bool IsTransient(int code) { return code == 429 || code == 500 || code == 503 || code == 504; }

mesh::ApiRequest MakeRequest(std::string method, std::string path, std::string body, const Clock& clock) {
  mesh::ApiRequest request;
  request.method = std::move(method);
  request.path = std::move(path);
  request.body = std::move(body);
  request.deadline = clock.Steady() + kRequestTimeout;
  return request;
}

Task<meta::Result<meta::Object>> ReadBy(LocalApiPtr api, std::string path) {
  if (!api) co_return meta::ServiceUnavailable("the server is stopping");
  co_return co_await api->GetOnce(std::move(path));
}

Task<meta::Result<meta::Object>> SendBy(LocalApiPtr api, std::string method, std::string path, std::string body) {
  if (!api) co_return meta::ServiceUnavailable("the server is stopping");
  co_return co_await api->Once(std::move(method), std::move(path), std::move(body));
}

struct Countdown {
  std::atomic<std::size_t> left;
  std::shared_ptr<Wakeup> done = Wakeup::New();
};

}  // namespace

LocalApi::LocalApi(std::shared_ptr<mesh::DelegateHandler> server, boost::asio::any_io_executor executor,
                   const Clock& clock)
    : api_(mesh::InProcess(std::move(server))), executor_(std::move(executor)), clock_(clock) {}

Task<meta::Result<meta::Object>> LocalApi::SendOnce(std::string method, std::string path, std::string body) {
  return api_.SendForObject(MakeRequest(std::move(method), std::move(path), std::move(body), clock_));
}

Task<meta::Result<meta::Object>> LocalApi::Send(std::string method, std::string path, std::string body) {
  std::chrono::milliseconds pause = kFirstPause;
  for (;;) {
    meta::Result<meta::Object> result = co_await SendOnce(method, path, body);
    if (result || stopped_ || !IsTransient(result.error().Code())) co_return result;
    if (pause == kLongestPause) log::Warning("{} {}: {}; trying again", method, path, result.error().Message());
    co_await Sleep(pause);
    pause = std::min(pause * 2, kLongestPause);
  }
}

Task<meta::Result<meta::Object>> LocalApi::Get(std::string path) { return Send("GET", std::move(path), ""); }

Task<meta::Result<std::vector<meta::Object>>> LocalApi::List(std::string path) {
  ASSIGN_OR_CO_RETURN(meta::Object list, co_await Send("GET", std::move(path), ""));
  co_return mesh::TakeItems(list);
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
  co_await Wakeup::WaitFor(wakeup, duration);
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

OwnApi MakeOwnApi(std::weak_ptr<LocalApi> api) {
  OwnApi own;
  own.read = [api](std::string path) { return ReadBy(api.lock(), std::move(path)); };
  own.send = [api](std::string method, std::string path, std::string body) {
    return SendBy(api.lock(), std::move(method), std::move(path), std::move(body));
  };
  return own;
}

std::string CollectionPath(const meta::Object& object, std::string_view plural) {
  const meta::Gvk kind = object.GetGvk();
  const std::string root =
      kind.group.empty() ? "/api/" + kind.version : fmt::format("/apis/{}/{}", kind.group, kind.version);
  if (object.Namespace().empty()) return fmt::format("{}/{}", root, plural);
  return fmt::format("{}/namespaces/{}/{}", root, object.Namespace(), plural);
}

}  // namespace apimesh::core_api
