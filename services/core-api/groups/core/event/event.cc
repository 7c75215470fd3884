#include "services/core-api/groups/core/event/event.h"

#include <fmt/format.h>

#include "lib/base/text/text.h"
#include "lib/base/text/trim.h"
#include "lib/meta/equal.h"
#include "lib/meta/names.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/kind_inputs.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/check.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

constexpr std::size_t kMaxText = 128, kMaxMessage = 1024;

struct Names {
  const char* core;
  const char* events;
};
// Fields that have different names in the two groups.
constexpr Names kNames[] = {
    {"involvedObject", "regarding"},
    {"message", "note"},
    {"source", "deprecatedSource"},
    {"firstTimestamp", "deprecatedFirstTimestamp"},
    {"lastTimestamp", "deprecatedLastTimestamp"},
    {"count", "deprecatedCount"},
    {"reportingComponent", "reportingController"},
};

void Rename(json::object& object, std::string_view from, std::string_view to) {
  json::value* value = meta::FindField(object, from);
  if (!value) return;
  json::value moved = std::move(*value);
  meta::EraseField(object, from);
  object[to] = std::move(moved);
}

void ToCoreNames(json::object& object) {
  for (const Names& names : kNames) Rename(object, names.events, names.core);
}
void ToEventsNames(json::object& object) {
  for (const Names& names : kNames) Rename(object, names.core, names.events);
}

/// Returns the event with the field names of the core group, which errors use for both groups.
meta::Object AsCore(const meta::Object& event, bool core) {
  meta::Object copy = event;
  if (!core) ToCoreNames(copy.Root());
  return copy;
}

/// Events with eventTime must name the action, the reporting controller and the reason. For events without it, only the
/// namespace is checked.
void ValidateCommon(const meta::Object& event, bool core, meta::FieldErrors& errors) {
  const Check root(event.Root(), meta::Path(), errors);
  const std::string_view ns = event.Namespace(),
                         object_ns = meta::FindString(event.Root(), "involvedObject", "namespace");
  const auto mismatch = [&] {
    errors.push_back(
        meta::Invalid("involvedObject.namespace", meta::Quoted(object_ns), "does not match event.namespace"));
  };
  if (root.Text("eventTime").empty()) {
    if (object_ns.empty() ? !ns.empty() && ns != "default" : ns != object_ns) mismatch();
    return;
  }
  if (object_ns.empty() && ns != "default" && ns != "kube-system") mismatch();
  const std::string controller = core ? "reportingComponent" : "reportingController";
  const std::string_view name = root.Text("reportingComponent");
  if (name.empty()) errors.push_back(meta::Required(controller, ""));
  for (std::string& complaint : meta::CheckQualifiedName(name))
    errors.push_back(meta::Invalid(controller, meta::Quoted(name), std::move(complaint)));
  for (const char* field : {"reportingInstance", "action", "reason"}) {
    if (root.Text(field).empty()) errors.push_back(meta::Required(field, ""));
    if (root.Text(field).size() > kMaxText)
      errors.push_back(meta::Invalid(field, "\"\"", fmt::format("can have at most {} characters", kMaxText)));
  }
  if (root.Text("message").size() > kMaxMessage) {
    errors.push_back(meta::Invalid("message", "\"\"", fmt::format("can have at most {} characters", kMaxMessage)));
  }
}

void ValidateSeries(const Check& root, meta::FieldErrors& errors) {
  const std::optional<Check> series = root.Child("series");
  if (!series) return;
  if (series->Number("count").value_or(0) < 2)
    errors.push_back(meta::Invalid("series.count", "\"\"", "should be at least 2"));
  if (series->Text("lastObservedTime").empty()) errors.push_back(meta::Required("series.lastObservedTime", ""));
}

class EventStrategy final : public registry::Strategy {
 public:
  explicit EventStrategy(bool core) : core_(core) {}

  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& given) const override {
    meta::FieldErrors errors;
    const meta::Object event = AsCore(given, core_);
    ValidateCommon(event, core_, errors);
    if (core_) return errors;
    const Check root(event.Root(), meta::Path(), errors);
    ValidateSeries(root, errors);
    if (root.Text("eventTime").empty()) errors.push_back(meta::Required("eventTime", ""));
    if (const std::string_view type = root.Text("type"); type != "Normal" && type != "Warning") {
      errors.push_back(meta::Invalid("type", "\"\"", fmt::format("has invalid value: {}", type)));
    }
    for (const char* field : {"firstTimestamp", "lastTimestamp"}) {
      if (!root.Text(field).empty()) errors.push_back(meta::Invalid(field, "\"\"", "needs to be unset"));
    }
    if (root.Number("count").value_or(0) != 0) errors.push_back(meta::Invalid("count", "\"\"", "needs to be unset"));
    if (const json::value* source = meta::FindField(event.Root(), "source");
        source && source->is_object() && !source->get_object().empty()) {
      errors.push_back(meta::Invalid("source", "\"\"", "needs to be unset"));
    }
    return errors;
  }

  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& given,
                                   const meta::Object& given_old) const override {
    meta::FieldErrors errors;
    const meta::Object event = AsCore(given, core_), old = AsCore(given_old, core_);
    ValidateCommon(event, core_, errors);
    if (core_) return errors;
    const Check root(event.Root(), meta::Path(), errors);
    const auto changed = [&](std::string_view field) {
      const json::value* now = meta::FindField(event.Root(), field);
      const json::value* before = meta::FindField(old.Root(), field);
      return !meta::Equal(now, before);
    };
    if (changed("series")) ValidateSeries(root, errors);
    for (const char* field :
         {"involvedObject", "reason", "message", "source", "firstTimestamp", "lastTimestamp", "count", "reason", "type",
          "eventTime", "action", "related", "reportingComponent", "reportingInstance"}) {
      if (!changed(field)) continue;
      const std::string_view shown = field == std::string_view("reportingComponent") ? "reportingController" : field;
      errors.push_back(
          meta::Invalid(std::string(shown), Shown(meta::FindField(event.Root(), field)), "field is immutable"));
    }
    return errors;
  }
  bool AllowCreateOnUpdate() const override { return true; }

 private:
  bool core_;
};

std::string_view FirstOf(std::string_view a, std::string_view b) { return a.empty() ? b : a; }

json::array CoreCells(const meta::Object& event, meta::Ages& ages) {
  const json::object& root = event.Root();
  const auto text = [&](const auto&... names) { return meta::FindString(root, names...); };
  const json::value first = SinceCell(FirstOf(text("firstTimestamp"), text("eventTime")), ages);
  json::value last = text("lastTimestamp").empty() ? first : SinceCell(text("lastTimestamp"), ages);
  std::int64_t count = NumberAt(root, "count");
  if (const json::value* series = meta::FindField(root, "series"); series && series->is_object()) {
    last = SinceCell(text("series", "lastObservedTime"), ages);
    count = NumberAt(root, "series", "count");
  } else if (count == 0) {
    count = 1;
  }
  const std::string kind = LowerCase(text("involvedObject", "kind"));
  const std::string_view name = text("involvedObject", "name");
  const std::string_view component = FirstOf(text("source", "component"), text("reportingComponent"));
  const std::string_view host = FirstOf(text("source", "host"), text("reportingInstance"));
  const std::string_view message = TrimSpace(text("message"));
  return {last,
          TextCell(text("type")),
          TextCell(text("reason")),
          name.empty() ? kind : fmt::format("{}/{}", kind, name),
          TextCell(text("involvedObject", "fieldPath")),
          host.empty() ? std::string(component) : fmt::format("{}, {}", component, host),
          TextCell(message),
          first,
          count,
          json::string(event.Name())};
}

registry::TablePrinter Table(bool core) {
  const auto cells =
      core ? +[](const meta::Object& event, meta::Ages& ages) { return CoreCells(event, ages); }
           : +[](const meta::Object& event, meta::Ages& ages) { return CoreCells(AsCore(event, false), ages); };
  return {{{.name = "Last Seen", .description = "When it happened last."},
           {.name = "Type", .description = "Normal or Warning."},
           {.name = "Reason", .description = "Why, in a word."},
           {.name = "Object", .description = "What it is about."},
           WideColumn("Subobject", "Which part of the object."),
           WideColumn("Source", "Who noticed it."),
           {.name = "Message", .description = "What happened."},
           WideColumn("First Seen", "When it happened first."),
           WideColumn("Count", "How often it happened."),
           {.name = "Name",
            .format = "name",
            .description = "Name of the object, unique in its namespace.",
            .priority = 1}},
          cells};
}

std::vector<std::string> ReadFields(const meta::Object& event) {
  const auto text = [&](const auto&... names) { return std::string(meta::FindString(event.Root(), names...)); };
  const std::string component = text("source", "component");
  return {text("involvedObject", "kind"),
          text("involvedObject", "namespace"),
          text("involvedObject", "name"),
          text("involvedObject", "uid"),
          text("involvedObject", "apiVersion"),
          text("involvedObject", "resourceVersion"),
          text("involvedObject", "fieldPath"),
          text("reason"),
          text("reportingComponent"),
          component.empty() ? text("reportingComponent") : component,
          text("type")};
}

const std::vector<std::string> kFields = {"involvedObject.kind",
                                          "involvedObject.namespace",
                                          "involvedObject.name",
                                          "involvedObject.uid",
                                          "involvedObject.apiVersion",
                                          "involvedObject.resourceVersion",
                                          "involvedObject.fieldPath",
                                          "reason",
                                          "reportingComponent",
                                          "source",
                                          "type"};

/// Returns 0, which keeps events forever, if --event-ttl is not a duration. The launcher refuses such a value.
std::chrono::seconds Lifetime(const KindInputs& inputs) {
  const auto ttl = service::ParseDuration(inputs.flags.event_ttl);
  return ttl ? std::chrono::duration_cast<std::chrono::seconds>(*ttl) : std::chrono::seconds(0);
}

}  // namespace

registry::Resource CoreEventResource(const KindInputs& inputs) {
  registry::Resource resource = FromTable("", "v1", "events", std::make_shared<EventStrategy>(true));
  resource.selectable_fields = kFields;
  resource.read_fields = &ReadFields;
  resource.ttl = Lifetime(inputs);
  resource.table = Table(true);
  return resource;
}

registry::Resource EventResource(const KindInputs& inputs) {
  registry::Resource resource = FromTable("events.k8s.io", "v1", "events", std::make_shared<EventStrategy>(false));
  resource.selectable_fields = kFields;
  for (std::string& field : resource.selectable_fields) {
    if (field.starts_with("involvedObject.")) field.replace(0, 14, "regarding");
    if (field == "reportingComponent") field = "reportingController";
  }
  resource.read_fields = [](const meta::Object& event) { return ReadFields(AsCore(event, false)); };
  resource.table = Table(false);
  resource.ttl = Lifetime(inputs);
  resource.from_stored = &ToEventsNames;
  resource.to_stored = &ToCoreNames;
  return resource;
}

}  // namespace apimesh::core_api
