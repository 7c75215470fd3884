#include "services/core-api/groups/flowcontrol/prioritylevelconfiguration/prioritylevelconfiguration.h"

#include <cmath>

#include <fmt/format.h>

#include "lib/meta/equal.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/flowcontrol/flow_objects.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/spec_fields.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

constexpr std::int64_t kMaxQueues = 10'000'000;
constexpr std::int64_t kMaxHashBits = 60;
constexpr const char* kZeroSharesAnnotation = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares";

/// Replaces 0 by a default, because 0 means "not set" in these fields.
void DefaultQueuing(json::object& object) {
  json::value* queuing = meta::Find(object, "spec", "limited", "limitResponse", "queuing");
  if (!queuing || !queuing->is_object()) return;
  constexpr std::pair<const char*, std::int64_t> kDefaults[] = {
      {"queues", 64}, {"handSize", 8}, {"queueLengthLimit", 50}};
  for (const auto& [field, value] : kDefaults) {
    if (NumberAt(queuing->get_object(), field) == 0) queuing->get_object()[field] = value;
  }
}

void ValidateHandSize(const Check& queuing, std::int64_t queues) {
  const std::int64_t hand = queuing.Number("handSize").value_or(0);
  if (hand <= 0) return queuing.Invalid("handSize", "must be positive");
  if (hand > queues) return queuing.Invalid("handSize", fmt::format("should not be greater than queues ({})", queues));
  const double bits = std::ceil(std::log2(static_cast<double>(queues)) * static_cast<double>(hand));
  if (bits <= kMaxHashBits) return;
  queuing.Invalid("handSize",
                  fmt::format("required entropy bits of deckSize {} and handSize {} should not be greater than {}",
                              queues, hand, kMaxHashBits));
}

void ValidateQueuing(const Check& queuing) {
  if (queuing.Number("queueLengthLimit").value_or(0) <= 0) queuing.Invalid("queueLengthLimit", "must be positive");
  const std::int64_t queues = queuing.Number("queues").value_or(0);
  if (queues <= 0) {
    queuing.Invalid("queues", "must be positive");
  } else if (queues > kMaxQueues) {
    queuing.Invalid("queues", fmt::format("must not be greater than {}", kMaxQueues));
  }
  ValidateHandSize(queuing, queues);
}

void ValidateLimitResponse(const Check& response) {
  const std::string_view type = response.Text("type");
  if (type == "Reject") {
    response.Forbid("queuing", "must be nil if limited.limitResponse.type is not Limited");
  } else if (type == "Queue") {
    if (const std::optional<Check> queuing = response.Child("queuing")) return ValidateQueuing(*queuing);
    response.Add(meta::Required(response.Path().Child("queuing").ToString(),
                                "must not be empty if limited.limitResponse.type is Limited"));
  } else {
    response.RequireOneOf("type", {"Queue", "Reject"});
  }
}

void ValidateShares(const Check& level) {
  if (level.Number("nominalConcurrencyShares").value_or(0) < 0)
    level.Invalid("nominalConcurrencyShares", "must be a non-negative integer");
}

void ValidateLendable(const Check& level) {
  const std::int64_t percent = level.Number("lendablePercent").value_or(0);
  if (percent < 0 || percent > 100) level.Invalid("lendablePercent", "must be between 0 and 100, inclusive");
}

void ValidateLimited(const Check& limited) {
  ValidateShares(limited);
  static const json::object empty;
  meta::FieldErrors errors;
  const std::optional<Check> response = limited.Child("limitResponse");
  ValidateLimitResponse(Check(response ? response->Object() : empty, limited.Path().Child("limitResponse"), errors));
  for (meta::FieldError& error : errors) limited.Add(std::move(error));
  ValidateLendable(limited);
  if (limited.Number("borrowingLimitPercent").value_or(0) < 0)
    limited.Invalid("borrowingLimitPercent", "if specified, must be a non-negative integer");
}

void ValidateSpec(const Check& spec, std::string_view name) {
  const std::string_view type = spec.Text("type");
  if ((name == "exempt") != (type == "Exempt")) {
    spec.Add(meta::Invalid("spec.type", meta::Quoted(type), "must be 'Exempt' if and only if `name` is 'exempt'"));
  }
  if (type == "Exempt") {
    spec.Forbid("limited", "must be nil if the type is not Limited");
    if (const std::optional<Check> exempt = spec.Child("exempt")) {
      ValidateShares(*exempt);
      ValidateLendable(*exempt);
    }
  } else if (type == "Limited") {
    spec.Forbid("exempt", "must be nil if the type is Limited");
    if (const std::optional<Check> limited = spec.Child("limited")) return ValidateLimited(*limited);
    spec.Add(meta::Required("spec.limited", "must not be empty when type is Limited"));
  } else {
    spec.RequireOneOf("type", {"Exempt", "Limited"});
  }
}

/// The objects that priority and fairness depends on have fixed specs. Only spec.exempt of "exempt" can be changed.
void ValidateMandatory(const Check& spec, const meta::Object& object) {
  const json::object* fixed = MandatorySpec(BootstrapFile::kPriorityLevels, object.Name());
  if (!fixed) return;
  const bool exempt = object.Name() == "exempt";
  json::object now = spec.Object();
  json::object wanted = *fixed;
  if (exempt) {
    meta::EraseField(now, "exempt");
    meta::EraseField(wanted, "exempt");
  }
  if (meta::Equal(now, wanted)) return;
  spec.Add(meta::Invalid("spec", Shown(meta::FindField(object.Root(), "spec")),
                         fmt::format("spec of '{}' {}must equal the fixed value", object.Name(),
                                     exempt ? "except the 'spec.exempt' field " : "")));
}

class PriorityLevelStrategy final : public registry::SpecStrategy {
 public:
  void Default(json::object& object) const override { DefaultQueuing(object); }

  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    meta::FieldErrors errors;
    if (object.Annotation(kZeroSharesAnnotation)) {
      errors.push_back(
          meta::Forbidden("metadata.annotations", fmt::format("annotation '{}' is forbidden", kZeroSharesAnnotation)));
    }
    const Check spec = SpecOf(object, errors);
    ValidateSpec(spec, object.Name());
    ValidateMandatory(spec, object);
    ValidateFlowConditions(object, errors);
    return errors;
  }

  meta::FieldErrors ValidateUpdate(const meta::RequestContext& ctx, const meta::Object& object,
                                   const meta::Object&) const override {
    return Validate(ctx, object);
  }
};

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  const json::object& root = object.Root();
  const json::value* limited = meta::Find(root, "spec", "limited");
  const json::value* queuing = meta::Find(root, "spec", "limited", "limitResponse", "queuing");
  const auto number = [](const json::value* holder, const char* field) {
    return holder && holder->is_object() ? json::value(NumberAt(holder->get_object(), field)) : json::value("<none>");
  };
  return {json::string(object.Name()),
          json::string(meta::FindString(root, "spec", "type")),
          number(limited, "nominalConcurrencyShares"),
          number(queuing, "queues"),
          number(queuing, "handSize"),
          number(queuing, "queueLengthLimit"),
          AgeCell(object, ages)};
}

}  // namespace

registry::Resource PriorityLevelConfigurationResource(const KindInputs&) {
  registry::Resource resource = FromTable("flowcontrol.apiserver.k8s.io", "v1", "prioritylevelconfigurations",
                                          std::make_shared<PriorityLevelStrategy>());
  resource.generation = true;
  SetFlowStatus(resource);
  resource.table = {{NameColumn(),
                     {.name = "Type", .description = "Whether requests are limited."},
                     {.name = "NominalConcurrencyShares", .description = "The share of the server's concurrency."},
                     {.name = "Queues", .description = "The number of queues."},
                     {.name = "HandSize", .description = "The number of queues that one flow can use."},
                     {.name = "QueueLengthLimit", .description = "The number of requests that can wait in one queue."},
                     AgeColumn()},
                    &Cells,
                    {"metadata.name", "metadata.creationTimestamp", "spec.type", "spec.limited"}};
  return resource;
}

}  // namespace apimesh::core_api
