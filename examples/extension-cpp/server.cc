// Serves the resource counters of cpp.example.com/v1 from memory, with gRPC's own C++ library.
// Usage: extension_example unix:/path/to/socket
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <mutex>

#include <boost/json.hpp>
#include <google/protobuf/text_format.h>
#include <grpcpp/grpcpp.h>
#include <sys/stat.h>

#include "proto/mesh/v1/delegate.grpc.pb.h"

namespace json = boost::json;
namespace mesh = apimesh::mesh::v1;

namespace {
constexpr const char* kApiVersion = "cpp.example.com/v1";
constexpr const char* kDescription = R"(
  contract_version: 1
  group_versions { group: "cpp.example.com" version: "v1" resources {
    name: "counters" kind: "Counter" cluster_scoped: true shared_watches: true
    verbs: ["create", "delete", "get", "list", "patch", "watch"]
    schema: '{"type": "object", "description": "A counter of anything.", "properties": {"spec": {"type": "object",'
            '"properties": {"value": {"type": "integer", "description": "The number so far."}}}}}'
  } })";

struct Answer {
  int code = 200;
  json::value body;
};

Answer Failure(int code, const char* reason, const std::string& message) {
  json::object status{{"kind", "Status"}, {"apiVersion", "v1"}, {"status", "Failure"}, {"code", code}};
  status["reason"] = reason;
  status["message"] = message;
  return {code, std::move(status)};
}

/// Applies a JSON merge patch (RFC 7396).
void Merge(json::value& target, const json::value& patch) {
  if (!patch.is_object()) return void(target = patch);
  if (!target.is_object()) target.emplace_object();
  for (const auto& [key, value] : patch.get_object()) {
    Merge(target.get_object()[key], value);
    if (value.is_null()) target.get_object().erase(key);
  }
}

class Counters final : public mesh::Delegate::Service {
  /// The description never changes, so the stream ends after one message.
  grpc::Status Describe(grpc::ServerContext*, const mesh::DescribeRequest*,
                        grpc::ServerWriter<mesh::Description>* out) override {
    mesh::Description description;
    google::protobuf::TextFormat::ParseFromString(kDescription, &description);
    out->Write(description);
    return grpc::Status::OK;
  }

  grpc::Status Call(grpc::ServerContext*, const mesh::Request* request, mesh::Response* response) override {
    const auto [code, body] = Handle(*request);
    response->set_code(code);
    response->set_body(json::serialize(body));
    return grpc::Status::OK;
  }

  grpc::Status Stream(grpc::ServerContext* context, const mesh::Request* request,
                      grpc::ServerWriter<mesh::Chunk>* out) override {
    if (request->info().verb() == "watch") return Watch(context, *request, out);
    Send(Handle(*request), out);
    return grpc::Status::OK;
  }

  static void Send(const Answer& answer, grpc::ServerWriter<mesh::Chunk>* out) {
    mesh::Chunk chunk;
    chunk.set_code(answer.code);
    chunk.set_data(json::serialize(answer.body));
    out->Write(chunk);
  }

  /// Sends the events after the resource version of the request; without one, the current objects first.
  grpc::Status Watch(grpc::ServerContext* context, const mesh::Request& request, grpc::ServerWriter<mesh::Chunk>* out) {
    const std::size_t found = request.query().find("resourceVersion=");
    long position = found == std::string::npos ? 0 : std::atol(request.query().c_str() + found + 16);
    mesh::Chunk chunk;
    chunk.set_code(200);
    std::unique_lock lock(mutex_);
    if (position == 0) {
      for (const auto& [name, object] : objects_) {
        if (Selects(request, name)) chunk.mutable_data()->append(Line("ADDED", object));
      }
      position = revision_;
    } else if (position < oldest_) {
      Send(Failure(410, "Expired", "too old resource version"), out);
    }
    for (bool open = true; open && position >= oldest_ && !context->IsCancelled();) {
      for (auto event = events_.upper_bound(position); event != events_.end(); ++event) {
        if (Selects(request, event->second.first)) chunk.mutable_data()->append(event->second.second);
      }
      position = revision_;
      lock.unlock();
      if (chunk.code() != 0 || !chunk.data().empty()) open = out->Write(chunk);
      chunk.Clear();
      lock.lock();
      changed_.wait_for(lock, std::chrono::seconds(1), [&] { return revision_ != position; });
    }
    return grpc::Status::OK;  // a client that was too slow lists and watches again
  }

  Answer Handle(const mesh::Request& request) {
    const mesh::RequestInfo& info = request.info();
    if (!info.label_selector().empty() || request.query().find("dryRun=") != std::string::npos)
      return Failure(400, "BadRequest", "counters support neither label selectors nor dry runs");
    const std::lock_guard lock(mutex_);
    if (info.verb() == "list") {
      json::array items;
      for (const auto& [name, object] : objects_) {
        if (Selects(request, name)) items.push_back(object);
      }
      json::object list{{"kind", "CounterList"}, {"apiVersion", kApiVersion}, {"items", std::move(items)}};
      list["metadata"] = {{"resourceVersion", std::to_string(revision_)}};
      return {200, std::move(list)};
    }
    if (info.verb() == "create") return Write(request, info.name(), nullptr);
    const auto found = objects_.find(info.name());
    if (found == objects_.end()) return Failure(404, "NotFound", "counter \"" + info.name() + "\" not found");
    if (info.verb() == "patch") return Write(request, info.name(), &found->second);
    if (info.verb() == "get") return {200, found->second};
    Record("DELETED", found->first, found->second);
    return {200, objects_.extract(found).mapped()};
  }

  // Creates a counter, or patches the current one.
  Answer Write(const mesh::Request& request, std::string name, const json::value* current) {
    boost::system::error_code error;
    json::value made = current ? *current : json::object();
    Merge(made, json::parse(request.body(), error));
    if (error || !made.is_object()) return Failure(400, "BadRequest", "the body is not a JSON object");
    if (!made.as_object()["metadata"].is_object()) made.as_object()["metadata"].emplace_object();
    json::object& meta = made.at("metadata").as_object();
    if (!current && meta["name"].is_string()) name = meta["name"].as_string();
    if (name.empty()) return Failure(422, "Invalid", "metadata.name: Required value");
    if (!current && objects_.contains(name)) return Failure(409, "AlreadyExists", "the counter already exists");
    if (current && meta["resourceVersion"] != current->at("metadata").at("resourceVersion"))
      return Failure(409, "Conflict", "the counter has been modified; apply your changes to the latest version");
    meta["name"] = name;
    meta["uid"] = current ? current->at("metadata").at("uid") : json::value("cpp-" + std::to_string(revision_));
    made.as_object()["kind"] = "Counter";
    made.as_object()["apiVersion"] = kApiVersion;
    if (!current || *current != made) {
      Record(current ? "MODIFIED" : "ADDED", name, made);
      objects_[name] = made;
    }
    return {current ? 200 : 201, std::move(made)};
  }

  static bool Selects(const mesh::Request& request, const std::string& name) {
    return request.info().name().empty() || request.info().name() == name;
  }
  static std::string Line(const char* type, const json::value& object) {
    return json::serialize(json::object{{"type", type}, {"object", object}}) + "\n";
  }
  void Record(const char* type, const std::string& name, json::value& object) {
    object.at("metadata").get_object()["resourceVersion"] = std::to_string(++revision_);
    events_[revision_] = {name, Line(type, object)};
    if (events_.size() > 1000) oldest_ = events_.extract(events_.begin()).key();
    changed_.notify_all();
  }

  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::map<std::string, json::value> objects_;
  std::map<long, std::pair<std::string, std::string>> events_;  // the name and the line, by revision
  /// Begins with the time, so that it also increases over restarts. Watches can start at oldest_ or later.
  long revision_ = std::time(nullptr) * 1'000'000;
  long oldest_ = revision_;
};
}  // namespace

int main(int argc, char** argv) {
  const std::string endpoint = argc == 2 ? argv[1] : "";
  if (!endpoint.starts_with("unix:/")) return std::fprintf(stderr, "usage: %s unix:/path/to/socket\n", argv[0]), 2;
  ::umask(077);  // only this user may connect
  ::mkdir(endpoint.substr(5, endpoint.rfind('/') - 5).c_str(), 0700);
  Counters counters;
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  builder.AddListeningPort(endpoint, grpc::InsecureServerCredentials());
  builder.RegisterService(&counters);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (!server) return 1;
  std::fprintf(stderr, "serving %s at %s\n", kApiVersion, endpoint.c_str());
  server->Wait();
}
