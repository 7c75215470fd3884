#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <unordered_map>

#include <grpcpp/grpcpp.h>

#include "lib/base/private_folder.h"
#include "proto/etcd/v3/rpc.grpc.pb.h"
#include "services/store/durability/base.h"
#include "services/store/tool/bump_revision.h"
#include "services/store/tool/channel.h"
#include "services/store/tool/commands.h"

namespace apimesh::store::tool {
namespace {

using namespace etcdserverpb;

constexpr int kPage = 500;
const std::string kFirst(1, '\0');

/// Copies a running etcd into a base with its revisions and leases: the keys at one revision, then the changes since.
class Importer {
 public:
  Importer(const std::string& url, const Arguments& arguments, Base& base, const Clock& clock)
      : channel_(OpenChannel(url, arguments)), kv_(KV::NewStub(channel_)), base_(base), clock_(clock) {}

  Revision Run() {
    const Revision start = CopyKeys();
    CopyLeases();
    const Revision reached = Follow(start);
    CopyLeases();  // keys that were attached meanwhile may belong to a lease that is newer than the first copy
    return reached;
  }

  /// Returns the newest revision of the source.
  Revision Newest() { return Range("a", 0, 1).header().revision(); }

 private:
  RangeResponse Range(const std::string& key, Revision revision, int limit) {
    RangeRequest request;
    request.set_key(key);
    request.set_range_end(kFirst);
    request.set_revision(revision);
    request.set_limit(limit);
    ::grpc::ClientContext context;
    RangeResponse response;
    Require(kv_->Range(&context, request, &response), "reading the source");
    return response;
  }

  Revision CopyKeys() {
    Revision revision = 0;
    std::unordered_map<Revision, std::uint32_t> subs;  // keys of one transaction need different sub-revisions
    std::string next = kFirst;
    std::unique_ptr<Progress> progress;
    for (bool more = true; more;) {
      const RangeResponse page = Range(next, revision, kPage);
      if (revision == 0) {
        revision = page.header().revision();
        progress = ShowProgress("copying keys", static_cast<std::uint64_t>(page.count()), clock_);
      }
      const auto writer = base_.OpenWriter();
      for (const auto& kv : page.kvs()) {
        writer->OnChange({.id = {kv.mod_revision(), subs[kv.mod_revision()]++},
                          .key = kv.key(),
                          .value = kv.value(),
                          .create = kv.create_revision(),
                          .version = kv.version(),
                          .lease = kv.lease()});
      }
      // History before the copy is not available, so our history begins there.
      writer->OnCompacted(revision);
      writer->Commit();
      keys_ += static_cast<std::size_t>(page.kvs_size());
      progress->Advance(static_cast<std::uint64_t>(page.kvs_size()));
      more = page.more() && page.kvs_size() > 0;
      if (more) next = page.kvs(page.kvs_size() - 1).key() + '\0';
    }
    progress.reset();
    std::printf("copied %zu keys at revision %ld\n", keys_, static_cast<long>(revision));
    return revision;
  }

  void CopyLeases() {
    const auto leases = Lease::NewStub(channel_);
    LeaseLeasesResponse all;
    ::grpc::ClientContext context;
    Require(leases->LeaseLeases(&context, {}, &all), "listing leases");
    const auto writer = base_.OpenWriter();
    for (const LeaseStatus& lease : all.leases()) {
      LeaseTimeToLiveRequest request;
      request.set_id(lease.id());
      LeaseTimeToLiveResponse response;
      ::grpc::ClientContext asking;
      Require(leases->LeaseTimeToLive(&asking, request, &response), "reading a lease");
      if (response.ttl() > 0) writer->OnLeaseGranted(lease.id(), response.grantedttl());
    }
    writer->Commit();
  }

  Revision Follow(Revision reached) {
    const Revision target = Newest();
    if (target <= reached) return reached;
    const auto watches = Watch::NewStub(channel_);
    ::grpc::ClientContext context;
    const auto stream = watches->Watch(&context);
    WatchRequest request;
    request.mutable_create_request()->set_key(kFirst);
    request.mutable_create_request()->set_range_end(kFirst);
    request.mutable_create_request()->set_start_revision(reached + 1);
    stream->Write(request);
    WatchResponse response;
    std::uint32_t sub = 0;
    while (reached < target && stream->Read(&response)) {
      if (response.canceled()) throw std::runtime_error("the source compacted its history meanwhile; try again");
      const auto writer = base_.OpenWriter();
      for (const auto& event : response.events()) {
        const auto& kv = event.kv();
        const bool deleted = event.type() == mvccpb::Event::DELETE;
        sub = kv.mod_revision() == reached ? sub + 1 : 0;
        reached = kv.mod_revision();
        writer->OnChange({.id = {reached, sub},
                          .deleted = deleted,
                          .key = kv.key(),
                          .value = kv.value(),
                          .create = kv.create_revision(),
                          .version = kv.version(),
                          .lease = kv.lease()});
      }
      writer->Commit();
    }
    context.TryCancel();
    return reached;
  }

  std::shared_ptr<::grpc::Channel> channel_;
  std::unique_ptr<KV::Stub> kv_;
  Base& base_;
  const Clock& clock_;
  std::size_t keys_ = 0;
};

}  // namespace

int RunImport(const std::vector<std::string>& words, const Clock& clock) {
  const Arguments arguments =
      Arguments::Parse(words, {"from", "from-snapshot", "data-dir", "cacert", "cert", "key", "bump-revision"});
  const std::string folder = arguments.Require("data-dir");
  const std::string bump = arguments.Get("bump-revision", "0");
  if (!arguments.Get("from-snapshot").empty()) {
    return RunSnapshot({"restore", arguments.Get("from-snapshot"), "--data-dir", folder, "--bump-revision", bump},
                       clock);
  }
  const std::int64_t by = ReadBump(bump);
  RequireEmptyFolder(folder);
  MakePrivateFolder(std::filesystem::path(folder) / "base");
  const auto base = Base::Open(std::filesystem::path(folder) / "base", {});
  Importer importer(arguments.Require("from"), arguments, *base, clock);
  Revision reached = importer.Run();
  if (const Revision newest = importer.Newest(); newest > reached) {
    std::fprintf(stderr,
                 "store: the source has been written since the copy (revision %ld instead of %ld); stop its "
                 "writers and import again to have these changes\n",
                 static_cast<long>(newest), static_cast<long>(reached));
  }
  if (by > 0) reached = BumpRevision(*base, by);
  std::printf("imported up to revision %ld into %s\n", static_cast<long>(reached), folder.c_str());
  return 0;
}

}  // namespace apimesh::store::tool
