#include "lib/admission/plugins/node_restriction/csi_drivers.h"

#include <fmt/format.h>

#include "lib/admission/plugins/node_restriction/fields.h"

namespace apimesh::admission::node_restriction {
namespace {

using meta::json::object;

constexpr std::pair<std::string_view, std::string_view> kMigratedSources[] = {
    {"gcePersistentDisk", "pd.csi.storage.gke.io"},
    {"awsElasticBlockStore", "ebs.csi.aws.com"},
    {"cinder", "cinder.csi.openstack.org"},
    {"azureDisk", "disk.csi.azure.com"},
    {"azureFile", "file.csi.azure.com"},
    {"vsphereVolume", "csi.vsphere.vmware.com"},
    {"portworxVolume", "pxd.portworx.com"},
};

/// Returns the CSI driver of a formerly built-in volume source. `holder` is the object that has the source as a field.
meta::Result<std::string> MigratedDriver(const object& holder) {
  for (const auto& [source, driver] : kMigratedSources) {
    if (!Has(holder, source)) continue;
    const std::string_view kind = meta::FindString(holder, source, "kind");
    if (source == "azureDisk" && !kind.empty() && kind != "Managed") {
      return PlainError(fmt::format("kind({}) is not supported in csi migration", kind));
    }
    return std::string(driver);
  }
  return std::string();
}

}  // namespace

meta::Result<std::string> DriverOfInlineVolume(const object& volume) {
  if (Has(volume, "csi")) return std::string(meta::FindString(volume, "csi", "driver"));
  return MigratedDriver(volume);
}

meta::Result<std::string> DriverOfPersistentVolume(const meta::Object& volume) {
  const meta::json::value* spec = meta::FindField(volume.Root(), "spec");
  if (!spec || !spec->is_object()) return std::string();
  return DriverOfInlineVolume(spec->get_object());  // the fields have the same names
}

}  // namespace apimesh::admission::node_restriction
