#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <fcntl.h>
#include <fmt/format.h>
#include <grpcpp/grpcpp.h>
#include <openssl/evp.h>
#include <unistd.h>

#include "lib/base/private_folder.h"
#include "proto/etcd/v3/rpc.grpc.pb.h"
#include "services/store/bolt/etcd_snapshot.h"
#include "services/store/tool/bump_revision.h"
#include "services/store/tool/channel.h"
#include "services/store/tool/commands.h"

namespace apimesh::store::tool {
namespace {

constexpr std::size_t kDigestBytes = 32;

int Save(const Arguments& arguments, const std::string& file, const Clock& clock) {
  const auto stub =
      etcdserverpb::Maintenance::NewStub(OpenChannel(arguments.Get("endpoints", "http://127.0.0.1:2379"), arguments));
  ::grpc::ClientContext context;
  const auto stream = stub->Snapshot(&context, {});
  const std::string part = file + ".part";
  // A snapshot contains every secret of the cluster, so only its owner may read it, from the first byte on.
  std::filesystem::remove(part);
  const int descriptor = ::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) throw std::runtime_error(fmt::format("cannot write {}: {}", part, std::strerror(errno)));
  ::close(descriptor);
  std::ofstream out(part, std::ios::binary | std::ios::app);
  etcdserverpb::SnapshotResponse response;
  std::unique_ptr<Progress> progress;
  while (stream->Read(&response)) {
    out << response.blob();
    const std::uint64_t size = response.blob().size();
    if (!progress) progress = ShowProgress("saving bytes", size + response.remaining_bytes(), clock);
    progress->Advance(size);
  }
  progress.reset();
  out.close();
  Require(stream->Finish(), "snapshot");
  if (!out) throw std::runtime_error("cannot write " + part);
  std::filesystem::rename(part, file);
  std::printf("Snapshot saved at %s\n", file.c_str());
  return 0;
}

// A snapshot from the Snapshot RPC ends with its SHA-256; a copied database file does not.
void CheckDigest(const std::string& file) {
  const std::uint64_t size = std::filesystem::file_size(file);
  if (size % 512 != kDigestBytes) return;
  std::ifstream in(file, std::ios::binary);
  EVP_MD_CTX* digest = EVP_MD_CTX_new();
  EVP_DigestInit_ex(digest, EVP_sha256(), nullptr);
  std::string buffer(1 << 20, '\0');
  for (std::uint64_t left = size - kDigestBytes; left > 0;) {
    const std::size_t part = std::min<std::uint64_t>(left, buffer.size());
    in.read(buffer.data(), static_cast<std::streamsize>(part));
    EVP_DigestUpdate(digest, buffer.data(), part);
    left -= part;
  }
  std::string computed(kDigestBytes, '\0'), given(kDigestBytes, '\0');
  EVP_DigestFinal_ex(digest, reinterpret_cast<unsigned char*>(computed.data()), nullptr);
  EVP_MD_CTX_free(digest);
  in.read(given.data(), kDigestBytes);
  if (computed != given) throw std::runtime_error(file + ": the checksum does not match the contents");
}

int RestoreTo(const std::string& file, const std::string& folder, std::int64_t bump) {
  CheckDigest(file);
  RequireEmptyFolder(folder);
  MakePrivateFolder(std::filesystem::path(folder) / "base");
  const auto base = Base::Open(std::filesystem::path(folder) / "base", {});
  RestoreEtcdSnapshot(file, *base);
  if (bump > 0) BumpRevision(*base, bump);
  std::printf("Restored revision %ld to %s\n", static_cast<long>(base->OpenView()->Number(Base::kRevision)),
              folder.c_str());
  return 0;
}

int ShowStatus(const std::string& file) {
  const SnapshotSummary summary = ReadSnapshotSummary(file);
  std::printf("%x, %ld, %lu, %lu\n", summary.hash, static_cast<long>(summary.revision),
              static_cast<unsigned long>(summary.keys), static_cast<unsigned long>(std::filesystem::file_size(file)));
  return 0;
}

}  // namespace

int RunSnapshot(const std::vector<std::string>& words, const Clock& clock) {
  const Arguments arguments =
      Arguments::Parse(words, {"endpoints", "cacert", "cert", "key", "data-dir", "bump-revision"});
  if (arguments.positional.size() != 2) {
    throw std::invalid_argument(
        "usage: store snapshot save FILE [--endpoints URL] | restore FILE --data-dir DIR [--bump-revision N] | "
        "status FILE");
  }
  const std::string& verb = arguments.positional[0];
  const std::string& file = arguments.positional[1];
  if (verb == "save") return Save(arguments, file, clock);
  if (verb == "restore")
    return RestoreTo(file, arguments.Require("data-dir"), ReadBump(arguments.Get("bump-revision", "0")));
  if (verb == "status") return ShowStatus(file);
  throw std::invalid_argument("unknown command: store snapshot " + verb);
}

}  // namespace apimesh::store::tool
