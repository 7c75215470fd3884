#include "services/aggregator/metrics/stability.h"

#include <algorithm>
#include <array>
#include <utility>

namespace apimesh::aggregator {
namespace {

constexpr auto kStability = std::to_array<std::pair<std::string_view, std::string_view>>({
    // sorted by name; all other metrics are alpha
    {"apiserver_admission_controller_admission_duration_seconds", "STABLE"},
    {"apiserver_admission_step_admission_duration_seconds", "STABLE"},
    {"apiserver_admission_webhook_admission_duration_seconds", "STABLE"},
    {"apiserver_authentication_config_controller_automatic_reload_last_timestamp_seconds", "BETA"},
    {"apiserver_authentication_config_controller_automatic_reloads_total", "BETA"},
    {"apiserver_authorization_config_controller_automatic_reload_last_timestamp_seconds", "BETA"},
    {"apiserver_authorization_config_controller_automatic_reloads_total", "BETA"},
    {"apiserver_cel_compilation_duration_seconds", "BETA"},
    {"apiserver_cel_evaluation_duration_seconds", "BETA"},
    {"apiserver_current_inflight_requests", "STABLE"},
    {"apiserver_flowcontrol_current_executing_requests", "BETA"},
    {"apiserver_flowcontrol_current_executing_seats", "BETA"},
    {"apiserver_flowcontrol_current_inqueue_requests", "BETA"},
    {"apiserver_flowcontrol_dispatched_requests_total", "BETA"},
    {"apiserver_flowcontrol_nominal_limit_seats", "BETA"},
    {"apiserver_flowcontrol_rejected_requests_total", "BETA"},
    {"apiserver_flowcontrol_request_wait_duration_seconds", "BETA"},
    {"apiserver_longrunning_requests", "STABLE"},
    {"apiserver_request_duration_seconds", "STABLE"},
    {"apiserver_request_total", "STABLE"},
    {"apiserver_requested_deprecated_apis", "STABLE"},
    {"apiserver_response_sizes", "STABLE"},
    {"apiserver_storage_events_received_total", "BETA"},
    {"apiserver_storage_objects", "STABLE"},
    {"apiserver_storage_size_bytes", "STABLE"},
    {"apiserver_validating_admission_policy_check_duration_seconds", "BETA"},
    {"apiserver_validating_admission_policy_check_total", "BETA"},
    {"apiserver_validation_declarative_validation_mismatch_total", "BETA"},
    {"apiserver_validation_declarative_validation_panic_total", "BETA"},
    {"apiserver_watch_list_duration_seconds", "BETA"},
    {"disabled_metrics_total", "BETA"},
    {"hidden_metrics_total", "BETA"},
    {"kubernetes_build_info", "BETA"},
    {"kubernetes_feature_enabled", "BETA"},
    {"kubernetes_healthcheck", "STABLE"},
    {"kubernetes_healthchecks_total", "STABLE"},
    {"registered_metrics_total", "BETA"},
    {"running_managed_controllers", "BETA"},
    {"workqueue_adds_total", "BETA"},
    {"workqueue_depth", "BETA"},
    {"workqueue_longest_running_processor_seconds", "BETA"},
    {"workqueue_queue_duration_seconds", "BETA"},
    {"workqueue_retries_total", "BETA"},
    {"workqueue_unfinished_work_seconds", "BETA"},
    {"workqueue_work_duration_seconds", "BETA"},
});
static_assert(std::is_sorted(kStability.begin(), kStability.end()));

}  // namespace

std::string_view StabilityOf(std::string_view metric) {
  const auto found = std::lower_bound(kStability.begin(), kStability.end(), std::pair(metric, std::string_view()));
  return found != kStability.end() && found->first == metric ? found->second : "ALPHA";
}

}  // namespace apimesh::aggregator
