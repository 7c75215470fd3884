#include "lib/http/proxy/dialer.h"

#include <mutex>

namespace apimesh::http {
namespace {

struct Table {
  std::mutex mutex;
  std::map<Network, std::shared_ptr<Dialer>> dialers;  // guarded by mutex
};

Table& Dialers() {
  static Table table;
  return table;
}

}  // namespace

void SetDialers(std::map<Network, std::shared_ptr<Dialer>> dialers) {
  const std::lock_guard lock(Dialers().mutex);
  Dialers().dialers = std::move(dialers);
}

bool IsConfigured(Network network) {
  const std::lock_guard lock(Dialers().mutex);
  return Dialers().dialers.contains(network);
}

std::shared_ptr<Dialer> DialerOf(Network network) {
  if (network == Network::kDirect) return nullptr;
  const std::lock_guard lock(Dialers().mutex);
  const auto found = Dialers().dialers.find(network);
  return found == Dialers().dialers.end() ? nullptr : found->second;
}

}  // namespace apimesh::http
