#include "lib/meta/gvk.h"

namespace apimesh::meta {

GroupVersion GroupVersion::Parse(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  if (slash == std::string_view::npos || api_version.find('/', slash + 1) != std::string_view::npos) {
    return {"", std::string(api_version)};
  }
  return {std::string(api_version.substr(0, slash)), std::string(api_version.substr(slash + 1))};
}

}  // namespace apimesh::meta
