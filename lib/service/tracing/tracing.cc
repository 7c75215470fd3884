#include "lib/service/tracing/tracing.h"

#include "lib/meta/uuid.h"
#include "lib/otlp/config.h"
#include "lib/otlp/exporter.h"
#include "lib/tracing/tracer.h"

namespace apimesh::service {
namespace {

constexpr std::chrono::seconds kStopLimit{2};

/// The edge is kube-apiserver for its clients, also in traces.
std::string ServiceName(std::string_view process) {
  return process == "aggregator" ? "apiserver" : std::string(process);
}

std::vector<MetricFamily> FamiliesOf(const otlp::Exporter::Counts& counts) {
  MetricFamily family;
  family.name = "apimesh_tracing_spans_total";
  family.help = "Spans of traces, by what became of them.";
  family.type = MetricFamily::Type::kCounter;
  const auto add = [&family](const char* result, std::uint64_t count) {
    family.series.push_back({{{"result", result}}, static_cast<double>(count)});
  };
  add("exported", counts.exported);
  add("dropped", counts.dropped);
  add("failed", counts.failed);
  std::vector<MetricFamily> families;
  families.push_back(std::move(family));
  return families;
}

}  // namespace

struct Tracing::State {
  std::shared_ptr<otlp::Exporter> exporter;
};

void TracingFlags::Bind(flags::Binder& flags) {
  flags.Bind("tracing-config-file", config_file);
  flags.Bind("tracing-exporter", exporter);
}

TracingFlags& TracingFlags::OfProcess() {
  static TracingFlags flags;
  return flags;
}

Tracing::Tracing(std::string_view service, const TracingFlags& flags, Metrics& metrics, const Clock& clock) {
  if (flags.config_file.empty()) return;
  const otlp::Config config = otlp::ReadConfig(flags.config_file);
  const std::string name = ServiceName(service);
  otlp::ExporterOptions options{.clock = clock, .resource = {}};
  options.resource = {{"service.name", name}, {"service.instance.id", name + "-" + meta::NewUuid()}};
  auto transport = flags.exporter == "http" ? otlp::NewHttpTransport(config.endpoint, clock)
                                            : otlp::NewGrpcTransport(config.endpoint, clock);
  state_ = std::make_unique<State>();
  state_->exporter = std::make_shared<otlp::Exporter>(std::move(options), std::move(transport));
  metrics.AddSource([exporter = state_->exporter] { return FamiliesOf(exporter->GetCounts()); });
  const tracing::Sampler sampler{.per_million = config.sampling_rate_per_million};
  tracing::Install(std::make_shared<tracing::Tracer>(clock, sampler, state_->exporter));
}

Tracing::~Tracing() {
  if (!state_) return;
  tracing::Uninstall();
  state_->exporter->Stop(kStopLimit);
}

}  // namespace apimesh::service
