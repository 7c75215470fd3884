#include "lib/base/private_folder.h"

#include <cerrno>

#include <sys/stat.h>

namespace apimesh {

void MakePrivateFolder(const std::filesystem::path& folder) {
  if (folder.empty() || std::filesystem::exists(folder)) return;
  MakePrivateFolder(folder.parent_path());
  if (::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return;
  throw std::filesystem::filesystem_error("cannot create a folder", folder,
                                          std::error_code(errno, std::generic_category()));
}

}  // namespace apimesh
