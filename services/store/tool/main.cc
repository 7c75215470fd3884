#include <cstdio>
#include <exception>
#include <stdexcept>

#include "services/store/tool/commands.h"

namespace {

constexpr const char* kUsage = R"(Usage:
  store snapshot save FILE [--endpoints URL]        a snapshot in etcd's format
  store snapshot restore FILE --data-dir DIR        from ours or etcd's; --bump-revision N continues N revisions later,
                                                    so that clients of the old data list again
  store snapshot status FILE
  store import --from URL --data-dir DIR            copy a live etcd, revisions unchanged, until caught up; with
                                                    --bump-revision N as for a restoration
  store import --from-snapshot FILE --data-dir DIR
  store export --to URL [--endpoints URL]           copy the newest state into a running etcd
  store export --snapshot FILE [--endpoints URL]    revisions unchanged: `etcdutl snapshot restore FILE` makes a member
TLS: --cacert, --cert, --key
)";

int Run(const std::vector<std::string>& words) {
  using namespace apimesh::store::tool;
  const apimesh::Clock& clock = apimesh::Clock::System();
  const std::vector<std::string> rest(words.empty() ? words.end() : words.begin() + 1, words.end());
  if (!rest.empty() && (rest[0] == "--help" || rest[0] == "-h")) {
    std::fputs(kUsage, stdout);
    return 0;
  }
  if (!words.empty() && words[0] == "snapshot") return RunSnapshot(rest, clock);
  if (!words.empty() && words[0] == "import") return RunImport(rest, clock);
  if (!words.empty() && words[0] == "export") return RunExport(rest, clock);
  std::fputs(kUsage, stderr);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "store: %s\n", error.what());
    return 1;
  }
}
