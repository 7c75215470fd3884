#include "services/core-api/groups/resource/device_selectors.h"

#include <fmt/format.h>

#include "lib/cel/program.h"
#include "services/core-api/groups/resource/device_rules.h"

namespace apimesh::core_api {
namespace {

using cel::Type;

constexpr std::size_t kMaxSelectors = 32, kMaxExpression = 10 * 1024;
constexpr std::uint64_t kMaxCost = 1'000'000;
constexpr std::uint64_t kMaxDomain = 63, kMaxIdentifier = 32, kMaxDriver = 63, kMaxValue = 64, kMaxEntries = 32;
constexpr char kDevice[] = "device", kDeviceType[] = "kubernetes.DRADevice";

}  // namespace

/// The type of the variable `device`, and the largest sizes of the values in it.
class DeviceSelectorRules::Device final : public cel::TypeProvider, public cel::SizeEstimator {
 public:
  Device(bool consumable_capacity, const cel::TypeRef& attribute) {
    attribute_ = {attribute, kMaxValue, nullptr, 0};
    attributes_by_name_ = MapOf(attribute_, kMaxIdentifier);
    attributes_ = MapOf(attributes_by_name_, kMaxDomain);
    quantity_ = {Type::Object("kubernetes.Quantity"), 0, nullptr, 0};
    quantities_by_name_ = MapOf(quantity_, kMaxIdentifier);
    capacity_ = MapOf(quantities_by_name_, kMaxDomain);
    driver_ = {Type::String(), kMaxDriver, nullptr, 0};
    multiple_ = {Type::Bool(), 1, nullptr, 0};
    fields_ = {{"driver", &driver_}, {"attributes", &attributes_}, {"capacity", &capacity_}};
    if (consumable_capacity) fields_.emplace("allowMultipleAllocations", &multiple_);
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  cel::TypeRef FindType(std::string_view name) const override { return name == kDeviceType ? type_ : nullptr; }
  cel::TypeRef FindField(std::string_view type, std::string_view field) const override {
    const auto found = fields_.find(field);
    return type == kDeviceType && found != fields_.end() ? found->second->type : nullptr;
  }

  std::optional<cel::SizeRange> EstimateSize(std::span<const std::string> path, const Type&) const override {
    if (path.empty() || path[0] != kDevice) return std::nullopt;
    if (path.size() == 1) return cel::SizeRange::Fixed(0);
    const auto field = fields_.find(path[1]);
    if (field == fields_.end()) return std::nullopt;
    const Part* part = field->second;
    for (std::size_t i = 2; i < path.size(); ++i) {
      if (path[i] == "@keys") {
        if (!part->element || i + 1 < path.size()) return std::nullopt;
        return cel::SizeRange{0, part->max_key};
      }
      // Attributes all have the same largest size, also if an expression selects them by name.
      const bool entry = path[i] == "@values" || path[i] == "@items" || part->element == &attribute_;
      if (!entry || !part->element) return std::nullopt;
      part = part->element;
    }
    return cel::SizeRange{0, part->max_size};
  }

  const cel::TypeRef& GetType() const { return type_; }

 private:
  struct Part {
    cel::TypeRef type;
    std::uint64_t max_size = 0;
    const Part* element = nullptr;  // of a map
    std::uint64_t max_key = 0;
  };
  static Part MapOf(const Part& element, std::uint64_t max_key) {
    return {Type::Map(Type::String(), element.type), kMaxEntries, &element, max_key};
  }

  const cel::TypeRef type_ = Type::Object(kDeviceType);
  Part attribute_, attributes_by_name_, attributes_, quantity_, quantities_by_name_, capacity_, driver_, multiple_;
  std::map<std::string, const Part*, std::less<>> fields_;
};

DeviceSelectorRules::DeviceSelectorRules(const features::FeatureGates& features)
    : dynamic_(features.Enabled(features::kDRAListTypeAttributes)) {
  // An attribute can be a list only if the gate is on.
  device_ = std::make_shared<const Device>(features.Enabled(features::kDRAConsumableCapacity),
                                           dynamic_ ? Type::Dyn() : Type::Any());
}

void DeviceSelectorRules::Validate(const Check& holder, Origin origin) const {
  ValidateAtMost(holder, "selectors", kMaxSelectors, [&](const Check& selector) {
    if (const std::optional<Check> cel = selector.Child("cel")) {
      ValidateExpression(*cel, origin);
    } else {
      selector.Add(meta::Required(selector.Path().Child("cel").ToString(), ""));
    }
  });
}

void DeviceSelectorRules::ValidateExpression(const Check& selector, Origin origin) const {
  const std::string_view source = selector.Text("expression");
  const std::string path = selector.Path().Child("expression").ToString();
  if (source.size() > kMaxExpression) {
    selector.Add(meta::TooLong(path, kMaxExpression));
    return;
  }
  const int minor = origin == Origin::kStored ? cel::kCurrentMinor : cel::kCompatibilityMinor;
  const cel::Program::Scope scope{
      .declarations = &cel::BindingEnvironment(minor), .variables = {{kDevice, device_->GetType()}}, .types = device_};
  const cel::Program::Compiled compiled = cel::Program::Compile(std::string(source), scope);
  if (!compiled.program) {
    if (compiled.instantiation_failed) {
      selector.Add({meta::FieldError::Type::kInternal, path, "", "program instantiation failed: " + compiled.error});
    } else {
      selector.Add(meta::Invalid(path, meta::Quoted(source), "compilation failed: " + compiled.error));
    }
    return;
  }
  const Type& type = *compiled.program->ResultType();
  if (!type.Is(Type::Kind::kBool) && !type.Is(Type::Kind::kAny) && !(dynamic_ && type.Is(Type::Kind::kDyn))) {
    selector.Add(meta::Invalid(path, meta::Quoted(source),
                               fmt::format("must evaluate to bool or the unknown type, not {}", type.ToDeclaration())));
  } else if (compiled.program->EstimateCost(device_.get()).max > kMaxCost) {
    selector.Add(meta::Forbidden(path, "too complex, exceeds cost limit"));
  }
}

}  // namespace apimesh::core_api
