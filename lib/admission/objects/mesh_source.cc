#include <boost/asio/co_spawn.hpp>
#include <fmt/format.h>

#include "lib/admission/objects/object_table.h"
#include "lib/admission/objects/source.h"
#include "lib/base/log.h"
#include "lib/mesh/api_client.h"
#include "lib/mesh/watch/resource_watch.h"
#include "lib/storage/store.h"

namespace apimesh::admission {
namespace {

constexpr std::string_view kUserAgent = "apimesh-admission";

/// Applies the changes of the watch to the table.
class TableSink final : public mesh::ObjectSink {
 public:
  explicit TableSink(std::shared_ptr<ObjectTable> table) : table_(std::move(table)) {}
  void Set(const boost::json::object& object) override {
    // The object is copied, because the memory of the watch's document belongs to a complete page or event.
    table_->Set(std::make_shared<const meta::Object>(object));
  }
  void Remove(const std::string& ns, const std::string& name) override { table_->Remove(ns, name); }
  std::vector<std::pair<std::string, std::string>> Names() const override { return table_->Names(); }

 private:
  const std::shared_ptr<ObjectTable> table_;
};

class MeshSource final : public Source {
 public:
  MeshSource(meta::Gvr resource, std::shared_ptr<mesh::DelegateClient> server, boost::asio::any_io_executor executor,
             const Clock& clock)
      : resource_(std::move(resource)), api_(server), table_(std::make_shared<ObjectTable>()) {
    mesh::ResourceWatch::Source source;
    source.path = PathOf(resource_, "", "");
    source.optional = true;
    source.user_agent = kUserAgent;
    const auto loaded = [table = table_] { table->MarkSynced(); };
    watch_ = std::make_shared<mesh::ResourceWatch>(std::move(server), std::move(source),
                                                   std::make_unique<TableSink>(table_), loaded, clock);
    const auto ended = [](std::exception_ptr error) {
      if (error) log::Error("a watch of admission ended by an exception");
    };
    boost::asio::co_spawn(executor, watch_->Run(), ended);
  }

  Task<meta::Result<ObjectPtr>> Get(meta::RequestContext ctx, std::string ns, std::string name, Read read) override {
    if (!storage::KeyFor(!ns.empty(), ns, name)) co_return meta::NotFound(resource_.GroupResource(), name);
    if (read != Read::kNewest && table_->Synced()) {
      ObjectPtr found = table_->Find(ns, name);
      if (found) co_return found;
      if (read == Read::kCached) co_return meta::NotFound(resource_.GroupResource(), name);
    }
    mesh::ApiRequest request = RequestFor(ctx, ns, name);
    ASSIGN_OR_CO_RETURN(meta::Object object, co_await api_.SendForObject(std::move(request)));
    co_return std::make_shared<const meta::Object>(std::move(object));
  }

  Task<meta::Result<std::vector<ObjectPtr>>> List(meta::RequestContext ctx, std::string ns, meta::LabelSelector labels,
                                                  Read read) override {
    if (read != Read::kNewest && table_->Synced()) co_return table_->List(ns, labels);
    mesh::ApiRequest request = RequestFor(ctx, ns, "");
    ASSIGN_OR_CO_RETURN(std::vector<meta::Object> items, co_await api_.ListItems(std::move(request)));
    std::vector<ObjectPtr> objects;
    for (meta::Object& item : items) {
      if (!labels.Empty() && !labels.Matches(LabelsOf(item))) continue;
      objects.push_back(std::make_shared<const meta::Object>(std::move(item)));
    }
    co_return objects;
  }

  std::unique_ptr<Subscription> Subscribe(std::function<void(const Change&)> changed) override {
    return table_->Subscribe(std::move(changed));
  }

  void Stop() override { watch_->Stop(); }

 private:
  mesh::ApiRequest RequestFor(const meta::RequestContext& ctx, std::string_view ns, std::string_view name) const {
    mesh::ApiRequest request;
    request.path = PathOf(resource_, ns, name);
    request.user_agent = kUserAgent;
    request.deadline = ctx.Deadline();
    return request;
  }

  const meta::Gvr resource_;
  const mesh::ApiClient api_;
  const std::shared_ptr<ObjectTable> table_;
  std::shared_ptr<mesh::ResourceWatch> watch_;
};

}  // namespace

std::string PathOf(const meta::Gvr& resource, std::string_view ns, std::string_view name) {
  std::string path = resource.group.empty() ? fmt::format("/api/{}", resource.version)
                                            : fmt::format("/apis/{}/{}", resource.group, resource.version);
  if (!ns.empty()) path += fmt::format("/namespaces/{}", ns);
  path += fmt::format("/{}", resource.resource);
  if (!name.empty()) path += fmt::format("/{}", name);
  return path;
}

SourcePtr NewMeshSource(meta::Gvr resource, std::shared_ptr<mesh::DelegateClient> server,
                        boost::asio::any_io_executor executor, const Clock& clock) {
  return std::make_shared<MeshSource>(std::move(resource), std::move(server), std::move(executor), clock);
}

}  // namespace apimesh::admission
