#pragma once

#include <map>
#include <mutex>

#include <boost/asio/any_io_executor.hpp>

#include "lib/admission/objects/source.h"

namespace apimesh::admission {

/// The Objects of a server.
class ClusterObjects final : public Objects {
 public:
  struct Parts {
    const Clock& clock;
    /// Returns the store of a resource that this process reads from etcd itself, or nullptr. May be empty. It is called
    /// when a plugin first reads the resource, so stores may be opened after the plugins are created.
    std::function<storage::StorePtr(const meta::Gvr& resource)> store;
    /// The peer process that serves all other resources. If nullptr, these cannot be read (500).
    std::shared_ptr<mesh::DelegateClient> server;
    boost::asio::any_io_executor executor;  // runs the watches
  };
  explicit ClusterObjects(Parts parts) : parts_(std::move(parts)) {}

  Task<meta::Result<ObjectPtr>> Get(meta::RequestContext ctx, meta::Gvr resource, std::string ns, std::string name,
                                    Read read) override;
  Task<meta::Result<std::vector<ObjectPtr>>> List(meta::RequestContext ctx, meta::Gvr resource, std::string ns,
                                                  meta::LabelSelector labels, Read read) override;
  std::unique_ptr<Subscription> Subscribe(const meta::Gvr& resource,
                                          std::function<void(const Change&)> changed) override;

  /// Ends all watches. Must be called before `executor` stops.
  void Stop();

 private:
  /// Returns nullptr if the resource cannot be read here.
  SourcePtr SourceOf(const meta::Gvr& resource);

  const Parts parts_;
  std::mutex mutex_;
  bool stopped_ = false;                    // guarded by mutex_
  std::map<meta::Gvr, SourcePtr> sources_;  // guarded by mutex_
};

}  // namespace apimesh::admission
