import type { ComponentChildren } from "preact";
import { formatBytes, formatDuration, formatRate, formatSeconds } from "../../logic/format";
import type { Process } from "../../logic/mesh";
import { useNow } from "../../ui/use";

export function ProcessCards({ processes }: { processes: Process[] }) {
  const now = useNow(1000);
  return (
    <div class="cards">
      {processes.map((process) => (
        <section key={process.name} class={`card process ${process.state}`} aria-label={process.name}>
          <h2>
            <span class="dot" aria-hidden="true" />
            {process.name}
            <span class="badge">{process.state === "up" ? "up" : process.state === "down" ? "down" : "not known"}</span>
          </h2>
          <dl>
            <Figure label="up for">{process.state === "up" && process.startedAt ? formatDuration(now - process.startedAt) : "–"}</Figure>
            <Figure label="memory">{process.state === "up" ? formatBytes(process.memoryBytes) : "–"}</Figure>
            <Figure label="CPU">{process.cpuPercent === undefined || process.state !== "up" ? "–" : `${process.cpuPercent.toFixed(1)} %`}</Figure>
            {process.name !== "authn-authz" && (
              <>
                <Figure label="requests">{formatRate(process.requestsPerSecond)}</Figure>
                <Figure label="errors (5xx)">{formatRate(process.errorsPerSecond)}</Figure>
                <Figure label="watches">{process.watches}</Figure>
                <Figure label="latency p50">{formatSeconds(process.p50)}</Figure>
                <Figure label="latency p99">{formatSeconds(process.p99)}</Figure>
              </>
            )}
          </dl>
          {process.groups.length > 0 && (
            <details>
              <summary>
                {process.groups.length} group-{process.groups.length === 1 ? "version" : "versions"}
              </summary>
              <p class="tags">
                {process.groups.map((group) => (
                  <code key={group}>{group}</code>
                ))}
              </p>
            </details>
          )}
        </section>
      ))}
    </div>
  );
}

function Figure({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}
