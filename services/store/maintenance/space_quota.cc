#include "services/store/maintenance/space_quota.h"

#include "lib/base/log.h"

namespace apimesh::store {

bool SpaceQuota::Admit(std::size_t bytes) {
  if (store_.NoSpaceAlarm()) return false;
  if (bytes_ < 0 || Used() + bytes <= static_cast<std::uint64_t>(bytes_)) return true;
  log::Warning("space quota of {} bytes exceeded; raising the NOSPACE alarm", bytes_);
  store_.Begin();
  store_.SetNoSpaceAlarm(true);
  store_.End();
  return false;
}

}  // namespace apimesh::store
