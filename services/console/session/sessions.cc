#include "services/console/session/sessions.h"

#include <algorithm>

#include "lib/base/secrets/one_time_secrets.h"

namespace apimesh::console {
namespace {

/// The table is searched by keyed digests, so the time of a search says nothing about the secrets.
Digest DigestOf(std::string_view secret) {
  KeyedHash hash;
  hash.Add(secret);
  return hash.Finish();
}

}  // namespace

Sessions::Ticket Sessions::Add(IdentityPtr identity) {
  Ticket ticket{RandomSecret(), RandomSecret()};
  const SteadyTime now = clock_.Steady();
  const std::lock_guard lock(mutex_);
  MakeRoom(now);
  sessions_[DigestOf(ticket.cookie)] = {DigestOf(ticket.key), std::move(identity), now + lifetime_, now};
  return ticket;
}

Sessions::Found Sessions::Find(std::string_view cookie, std::string_view key) {
  if (cookie.empty() || key.empty()) return {};
  const SteadyTime now = clock_.Steady();
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(DigestOf(cookie));
  if (found == sessions_.end()) return {};
  if (found->second.expires <= now) {
    sessions_.erase(found);
    return {};
  }
  if (!(found->second.key == DigestOf(key))) return {};
  found->second.used = now;
  return {found->second.identity, found->second.expires};
}

void Sessions::Remove(std::string_view cookie) {
  const std::lock_guard lock(mutex_);
  sessions_.erase(DigestOf(cookie));
}

std::size_t Sessions::Count() const {
  const std::lock_guard lock(mutex_);
  return sessions_.size();
}

void Sessions::MakeRoom(SteadyTime now) {
  std::erase_if(sessions_, [now](const auto& entry) { return entry.second.expires <= now; });
  while (sessions_.size() >= most_) {
    const auto used_earlier = [](const auto& one, const auto& other) { return one.second.used < other.second.used; };
    sessions_.erase(std::min_element(sessions_.begin(), sessions_.end(), used_earlier));
  }
}

}  // namespace apimesh::console
