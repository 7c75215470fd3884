#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include "lib/base/log.h"
#include "services/store/bolt/etcd_snapshot.h"
#include "services/store/maintenance/version.h"
#include "services/store/rpc/services.h"
#include "services/store/rpc/unary.h"

namespace apimesh::store {
namespace {

constexpr std::size_t kChunkBytes = 32 * 1024;

std::string Chunk(std::uint64_t remaining, std::string_view bytes) {
  std::string response;
  wire::AppendInteger(response, 2, remaining);
  wire::AppendBytes(response, 3, bytes);
  wire::AppendBytes(response, 4, kStorageVersion);
  return response;
}

/// A temporary file that is deleted when it is closed, and its digest.
class SnapshotFile {
 public:
  explicit SnapshotFile(std::filesystem::path path) : path_(std::move(path)), digest_(EVP_MD_CTX_new()) {
    EVP_DigestInit_ex(digest_, EVP_sha256(), nullptr);
  }
  ~SnapshotFile() {
    EVP_MD_CTX_free(digest_);
    if (fd_ >= 0) close(fd_);
    unlink(path_.c_str());
  }
  const std::filesystem::path& path() const { return path_; }

  bool Open() {
    fd_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd_ < 0) return false;
    left_ = static_cast<std::uint64_t>(lseek(fd_, 0, SEEK_END));
    lseek(fd_, 0, SEEK_SET);
    return true;
  }
  std::uint64_t Left() const { return left_; }
  std::string Next() {
    std::string bytes(std::min<std::uint64_t>(left_, kChunkBytes), '\0');
    const ssize_t got = read(fd_, bytes.data(), bytes.size());
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    left_ = bytes.empty() ? 0 : left_ - bytes.size();
    EVP_DigestUpdate(digest_, bytes.data(), bytes.size());
    return bytes;
  }
  std::string Digest() {
    std::string digest(32, '\0');
    EVP_DigestFinal_ex(digest_, reinterpret_cast<unsigned char*>(digest.data()), nullptr);
    return digest;
  }

 private:
  std::filesystem::path path_;
  EVP_MD_CTX* digest_;
  int fd_ = -1;
  std::uint64_t left_ = 0;
};

/// Snapshot: sends the complete store as an etcd database file, then its SHA-256. The file is written on a separate
/// thread and sent at the client's pace.
class Snapshot final : public CallHandler {
 public:
  Snapshot(Services& services, CallPtr call) : services_(services), call_(std::move(call)) {}

  void OnMessage(std::string_view) override {
    static std::uint64_t number = 0;
    const std::filesystem::path folder = services_.folder;
    auto file = std::make_shared<SnapshotFile>(folder / fmt::format("snapshot-{}.tmp", ++number));
    file_ = file;
    const auto failure = std::make_shared<std::string>();
    const auto write = [file, failure, identity = services_.identity](const Base::View& view) {
      try {
        WriteEtcdSnapshot(view, identity, file->path());
      } catch (const std::exception& error) {
        *failure = error.what();
      }
    };
    // The call may have ended by then; the file is then deleted without it.
    const std::weak_ptr<SnapshotFile> alive = file;
    services_.journal.RunWithView(write, [this, alive, failure, call = call_] {
      if (!call->IsOpen()) return;
      if (!failure->empty() || alive.expired() || !file_->Open()) {
        return call->Finish({Code::kInternal, "etcdserver: snapshot failed: " + *failure});
      }
      SendMore();
    });
  }
  void OnHalfClose() override {}
  void OnDrained() override { SendMore(); }

 private:
  void SendMore() {
    if (!file_ || done_) return;
    while (file_->Left() > 0 && !call_->AboveHighWatermark()) {
      const std::string bytes = file_->Next();
      call_->Send(Chunk(file_->Left(), bytes));
    }
    if (file_->Left() > 0) return;
    done_ = true;
    call_->Send(Chunk(0, file_->Digest()));
    call_->Finish({});
  }

  Services& services_;
  CallPtr call_;
  std::shared_ptr<SnapshotFile> file_;
  bool done_ = false;
};

}  // namespace

void AddSnapshotMethod(Services& services, Methods& methods) {
  methods["/etcdserverpb.Maintenance/Snapshot"] = [&services](const CallPtr& call) -> std::unique_ptr<CallHandler> {
    return std::make_unique<Snapshot>(services, call);
  };
}

}  // namespace apimesh::store
