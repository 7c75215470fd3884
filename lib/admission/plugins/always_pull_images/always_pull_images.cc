#include "lib/admission/plugins/always_pull_images/always_pull_images.h"

#include <set>

#include <fmt/format.h>

#include "lib/admission/fields.h"
#include "lib/meta/errors/field_error.h"

namespace apimesh::admission {
namespace {

using meta::FindString;

/// Returns whether an update uses only images that the pod had before. Such pods may be older than this plugin.
bool HasNoNewImages(const Attributes& attributes) {
  if (attributes.operation != Operation::kUpdate) return false;
  std::set<std::string_view> old;
  ForEachContainer(SpecOf(*attributes.old_object),
                   [&](const json::object& container) { old.insert(FindString(container, "image")); });
  bool same = true;
  ForEachContainer(SpecOf(std::as_const(*attributes.object)),
                   [&](const json::object& container) { same &= old.contains(FindString(container, "image")); });
  return same;
}

class AlwaysPullImages final : public Plugin {
 public:
  bool Handles(Phase, const Attributes& attributes) const override {
    return IsPod(attributes) &&
           (attributes.operation == Operation::kCreate || attributes.operation == Operation::kUpdate) &&
           !HasNoNewImages(attributes);
  }

  Task<meta::Result<>> Mutate(meta::RequestContext, Attributes& attributes) override {
    json::object& spec = SpecOf(*attributes.object);
    ForEachContainer(spec, [](json::object& container) { container["imagePullPolicy"] = "Always"; });
    ForEach(spec, "volumes", [](json::object& volume) {
      json::value* image = meta::FindField(volume, "image");
      if (image && image->is_object()) image->get_object()["pullPolicy"] = "Always";
    });
    co_return meta::Result<>();
  }

  Task<meta::Result<>> Validate(meta::RequestContext, const Attributes& attributes) override {
    std::vector<std::string> errors;
    const auto check = [&](const std::string& path, std::string_view policy) {
      if (policy == "Always") return;
      const meta::FieldError error = meta::NotSupported(path, meta::Quoted(policy), {"Always"});
      errors.push_back(Forbidden(attributes, fmt::format("{}: {}", error.field, error.Message())).Message());
    };
    const json::object& spec = SpecOf(std::as_const(*attributes.object));
    for (const std::string_view list : kContainerLists) {
      std::size_t index = 0;
      ForEach(spec, list, [&](const json::object& container) {
        check(fmt::format("spec.{}[{}].imagePullPolicy", list, index++), FindString(container, "imagePullPolicy"));
      });
    }
    std::size_t index = 0;
    ForEach(spec, "volumes", [&](const json::object& volume) {
      if (Has(volume, "image"))
        check(fmt::format("spec.volumes[{}].image.pullPolicy", index), FindString(volume, "image", "pullPolicy"));
      ++index;
    });
    if (!errors.empty()) co_return PlainError(JoinErrors(errors));
    co_return meta::Result<>();
  }
};

}  // namespace

std::unique_ptr<Plugin> MakeAlwaysPullImages(const PluginInputs&) { return std::make_unique<AlwaysPullImages>(); }

}  // namespace apimesh::admission
