#include "services/authn-authz/testing/fake_core_api.h"

#include "lib/meta/object.h"
#include "lib/meta/selectors/query.h"
#include "lib/testing/system_clock.h"

namespace apimesh::authn_authz::fake {

class FakeCoreApi::Handler final : public mesh::DelegateHandler {
 public:
  Task<mesh::Response> Call(mesh::Request&& request) override {
    if (request.info.verb == meta::Verb::kList) {
      co_return mesh::Response::Error(meta::InternalError("lists are answered only as a stream"));
    }
    const std::lock_guard lock(mutex_);
    const std::size_t slash = request.path.rfind('/');
    for (const auto& [path, objects] : objects_) {
      const auto it = objects.find(request.path.substr(slash + 1));
      if (path.substr(path.rfind('/')) == Parent(request.path) && it != objects.end()) {
        co_return mesh::Response::Json(200, boost::json::serialize(it->second));
      }
    }
    co_return mesh::Response::Error(meta::GenericNotFound());
  }

  Task<> Stream(mesh::Request request, mesh::ResponseStream& stream) override {
    const meta::QueryParameters query(request.query);
    mesh::Headers head{{"content-type", "application/json"}};
    if (query.First("watch").value_or("") != "true") {
      std::string body = List(request.path);
      co_await stream.WriteHead(200, std::move(head));
      std::vector<SharedBytes> pieces{SharedBytes(std::move(body))};
      co_await stream.Write(std::move(pieces));
      co_return;
    }
    const auto cancelled = std::make_shared<std::atomic<bool>>(false);
    stream.OnCancel([cancelled] { *cancelled = true; });
    co_await stream.WriteHead(200, std::move(head));
    std::size_t next = std::stoul(query.First("resourceVersion").value_or("0"));
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
    while (!*cancelled) {
      std::string events;
      {
        const std::lock_guard lock(mutex_);
        for (; next < events_.size(); ++next) {
          if (events_[next].first == request.path) events += events_[next].second + "\n";
        }
      }
      if (!events.empty()) {
        std::vector<SharedBytes> pieces{SharedBytes(std::move(events))};
        if (!co_await stream.Write(std::move(pieces))) co_return;
      }
      timer.expires_after(std::chrono::milliseconds(1));
      co_await timer.async_wait(boost::asio::use_awaitable);
    }
  }
  Task<> Connect(mesh::Request, std::unique_ptr<mesh::ConnectStream>) override { co_return; }
  std::shared_ptr<void> Describe(std::function<void(mesh::Description)>) override { return nullptr; }

  void Put(const std::string& path, const std::string& json) {
    const std::lock_guard lock(mutex_);
    boost::json::object object = boost::json::parse(json).as_object();
    object["metadata"].as_object()["resourceVersion"] = std::to_string(events_.size() + 1);
    const std::string name(meta::FindString(object, "metadata", "name"));
    Record(path, objects_[path].contains(name) ? "MODIFIED" : "ADDED", object);
    objects_[path][name] = std::move(object);
  }
  void Delete(const std::string& path, const std::string& name) {
    const std::lock_guard lock(mutex_);
    boost::json::object object = objects_[path].at(name);
    objects_[path].erase(name);
    object["metadata"].as_object()["resourceVersion"] = std::to_string(events_.size() + 1);
    Record(path, "DELETED", object);
  }

 private:
  static std::string Parent(const std::string& path) {
    const std::string parent = path.substr(0, path.rfind('/'));
    return parent.substr(parent.rfind('/'));
  }
  std::string List(const std::string& path) {
    const std::lock_guard lock(mutex_);
    boost::json::object list;
    list["kind"] = "List";
    list["metadata"] = boost::json::object{{"resourceVersion", std::to_string(events_.size())}};
    boost::json::array& items = list["items"].emplace_array();
    for (const auto& [name, object] : objects_[path]) items.push_back(object);
    return boost::json::serialize(list);
  }
  void Record(const std::string& path, const char* type, const boost::json::object& object) {
    events_.emplace_back(path, boost::json::serialize(boost::json::object{{"type", type}, {"object", object}}));
  }

  std::mutex mutex_;
  std::map<std::string, std::map<std::string, boost::json::object>> objects_;  // by path and name; guarded by mutex_
  std::vector<std::pair<std::string, std::string>> events_;                    // path and JSON; guarded by mutex_
};

FakeCoreApi::FakeCoreApi(const std::string& address)
    : handler_(std::make_shared<Handler>()),
      thread_([this] { io_.run(); }),
      server_(mesh::ServeDelegate({{address, "", "", ""}}, handler_, {&io_}, apimesh::testing::SystemClock())) {}

FakeCoreApi::~FakeCoreApi() {
  server_->Drain(std::chrono::milliseconds(100));
  server_.reset();
  work_.reset();
  io_.stop();
  thread_.join();
}

void FakeCoreApi::Put(const std::string& path, const std::string& object_json) { handler_->Put(path, object_json); }
void FakeCoreApi::Delete(const std::string& path, const std::string& name) { handler_->Delete(path, name); }

}  // namespace apimesh::authn_authz::fake
