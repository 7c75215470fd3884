#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include <boost/asio/any_io_executor.hpp>

#include "lib/base/async/wakeup.h"
#include "lib/grpc/channel.h"
#include "services/aggregator/extensions/resources.h"

namespace apimesh::aggregator {

/// Keeps the description of an extension server up to date, and checks the health of the server. Thread-safe.
class Describer : public std::enable_shared_from_this<Describer> {
 public:
  struct Source {
    std::shared_ptr<grpc::Channel> channel;
    std::string endpoint;
    meta::GroupVersion version;
    std::shared_ptr<const schema::Descriptions> texts;
    const Clock& clock;
    std::function<void()> changed;  // runs after each change, on any thread
  };
  explicit Describer(Source source) : source_(std::move(source)) {}

  void Start(const boost::asio::any_io_executor& executor);
  void Stop();

  /// Whether requests may be sent: the last description and the last health check were good.
  bool Available() const;
  /// What the server serves. nullptr if it is not available.
  ExtensionResourcesPtr Resources() const;
  /// The last description of the server, also if it is not available, for its documents. nullptr if it has sent none.
  struct Documents {
    ExtensionResourcesPtr of;
    std::uint64_t version = 0;  // changes with them
  };
  Documents LastDocuments() const;
  /// Asks the health service. Returns why the server is not available, or an empty refusal.
  Task<Refusal> Check();

 private:
  static Task<> Run(std::shared_ptr<Describer> self);
  Task<> Follow();
  /// Takes over a description, or the reason why there is none.
  void Report(ExtensionResourcesPtr resources, Refusal refusal);
  Refusal Failed(const grpc::Status& status) const;

  const Source source_;
  mutable std::mutex mutex_;
  // All below are guarded by mutex_.
  ExtensionResourcesPtr resources_;
  Documents documents_;
  Refusal refusal_{"DescriptionPending", "the server has not sent its description yet"};
  bool healthy_ = false;
  bool stopped_ = false;
  std::function<void()> cancel_;  // ends the open call
  std::shared_ptr<Wakeup> pause_;
};

}  // namespace apimesh::aggregator
