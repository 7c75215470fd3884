import { formatAge } from "../../logic/format";
import type { KubeObject } from "../../logic/yaml";
import { useNow } from "../../ui/use";

interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
}

export function Summary({ object }: { object: KubeObject }) {
  const now = useNow(5000);
  const { labels, creationTimestamp, resourceVersion } = object.metadata;
  const status = object.status as { phase?: string; conditions?: Condition[] } | undefined;
  return (
    <div class="summary">
      <span>
        <span class="muted">age</span> {formatAge(creationTimestamp, now)}
      </span>
      <span>
        <span class="muted">version</span> {resourceVersion}
      </span>
      {status?.phase && (
        <span>
          <span class="muted">phase</span> {status.phase}
        </span>
      )}
      {(status?.conditions ?? []).map((condition) => (
        <span key={condition.type} class={`badge ${condition.status === "True" ? "" : "quiet"}`} title={[condition.reason, condition.message].filter(Boolean).join(": ")}>
          {condition.type}: {condition.status}
        </span>
      ))}
      <span class="tags">
        {Object.entries(labels ?? {}).map(([name, value]) => (
          <code key={name}>
            {name}={value}
          </code>
        ))}
      </span>
    </div>
  );
}
