import { getJson } from "../../api/client";
import { formatAge } from "../../logic/format";
import type { KubeObject } from "../../logic/yaml";
import { Empty, Loading, Problem } from "../../ui/states";
import { useLoaded, useNow } from "../../ui/use";

interface Event {
  metadata: { uid: string; creationTimestamp?: string };
  type?: string;
  reason?: string;
  message?: string;
  count?: number;
  lastTimestamp?: string;
  eventTime?: string;
  source?: { component?: string };
  reportingComponent?: string;
}

export function Events({ object }: { object: KubeObject }) {
  const namespace = object.metadata.namespace ?? "default";
  const selector = encodeURIComponent(`involvedObject.uid=${object.metadata.uid}`);
  const events = useLoaded((signal) => getJson<{ items?: Event[] }>(`/api/v1/namespaces/${namespace}/events?fieldSelector=${selector}`, { signal }), [object.metadata.uid]);
  const now = useNow(5000);
  if (events.error) return <Problem error={events.error} needs={`list on events in ${namespace}`} />;
  if (!events.value) return <Loading what="events" />;
  const time = (event: Event) => event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp ?? "";
  const items = [...(events.value.items ?? [])].sort((one, other) => time(other).localeCompare(time(one)));
  if (items.length === 0) return <Empty title="No events">Controllers and nodes report what they do with an object; events are kept for an hour.</Empty>;
  return (
    <div class="scroll" tabIndex={0}>
      <table class="plain">
        <thead>
          <tr>
            <th>Last seen</th>
            <th>Type</th>
            <th>Reason</th>
            <th>Message</th>
            <th>From</th>
          </tr>
        </thead>
        <tbody>
          {items.map((event) => (
            <tr key={event.metadata.uid}>
              <td>
                {formatAge(time(event), now)}
                {(event.count ?? 1) > 1 && <span class="muted"> ×{event.count}</span>}
              </td>
              <td>{event.type}</td>
              <td>{event.reason}</td>
              <td class="wrap">{event.message}</td>
              <td>{event.reportingComponent || event.source?.component}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
