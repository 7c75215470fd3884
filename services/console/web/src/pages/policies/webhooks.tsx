import { getJson, getText } from "../../api/client";
import { readMetrics } from "../../logic/metrics";
import { countCalls, describeRule, describeTarget, WEBHOOK_FAMILIES, type Webhook, type WebhookConfiguration, type WebhookCounts } from "../../logic/policies";
import { href } from "../../router";
import { Empty, Loading, Problem } from "../../ui/states";
import { useLoaded, useNow } from "../../ui/use";

const GROUP = "/apis/admissionregistration.k8s.io/v1";
const KINDS = ["validatingwebhookconfigurations", "mutatingwebhookconfigurations"];

interface Entry {
  plural: string;
  configuration: WebhookConfiguration;
  webhook: Webhook;
}

export function Webhooks() {
  const round = Math.floor(useNow(3000) / 3000);
  const entries = useLoaded((signal) => readEntries(signal), [round]);
  const counts = useLoaded(async (signal) => countCalls(readMetrics(await getText("/metrics", { signal }), WEBHOOK_FAMILIES)), [round]);
  if (entries.error) return <Problem error={entries.error} needs={`list on ${KINDS.join(" and ")}`} />;
  if (!entries.value) return <Loading what="webhooks" />;
  if (entries.value.length === 0) return <Empty title="No admission webhooks">A webhook configuration sends requests to another server, which may change or refuse them.</Empty>;
  return (
    <>
      {counts.error !== undefined && <Problem error={counts.error} needs="get on the path /metrics, to count calls" />}
      {entries.value.map((entry) => (
        <WebhookCard key={`${entry.plural}/${entry.configuration.metadata.name}/${entry.webhook.name}`} entry={entry} counts={counts.value?.get(entry.webhook.name)} />
      ))}
    </>
  );
}

async function readEntries(signal: AbortSignal): Promise<Entry[]> {
  const lists = await Promise.all(KINDS.map(async (plural) => ({ plural, list: await getJson<{ items?: WebhookConfiguration[] }>(`${GROUP}/${plural}`, { signal }) })));
  return lists.flatMap(({ plural, list }) => (list.items ?? []).flatMap((configuration) => (configuration.webhooks ?? []).map((webhook) => ({ plural, configuration, webhook }))));
}

function WebhookCard({ entry, counts }: { entry: Entry; counts?: WebhookCounts }) {
  const { webhook, configuration, plural } = entry;
  const failures = (counts?.failed ?? 0) + (counts?.ignored ?? 0);
  const broken = failures > 0;
  const fails = webhook.failurePolicy !== "Ignore";
  return (
    <section class={`card ${broken ? "troubled" : ""}`}>
      <h2>
        {webhook.name} <span class="badge">{plural.startsWith("validating") ? "validating" : "mutating"}</span>
        <span class={`badge ${fails ? "" : "quiet"}`}>failure policy: {webhook.failurePolicy ?? "Fail"}</span>
      </h2>
      {broken && (
        <p class="notice">
          The API server could not call this webhook {failures === 1 ? "once" : `${failures} times`}.{" "}
          {fails ? "Requests that it matches are refused until it answers." : "Requests that it matches continue without it."} Is {describeTarget(webhook)} running and reachable from the API server?
        </p>
      )}
      <dl class="pairs">
        <div>
          <dt>called at</dt>
          <dd class="wrap">{describeTarget(webhook)}</dd>
        </div>
        <div>
          <dt>for</dt>
          <dd>
            {(webhook.rules ?? []).map((rule, index) => (
              <div key={index}>{describeRule(rule)}</div>
            ))}
          </dd>
        </div>
        <div>
          <dt>timeout</dt>
          <dd>{webhook.timeoutSeconds ?? 10} s</dd>
        </div>
        <div>
          <dt>calls</dt>
          <dd>{counts ? `${counts.calls}, of which it refused ${counts.refused}; ${counts.failed} requests were refused because it failed, ${counts.ignored} failures were ignored` : "none yet"}</dd>
        </div>
      </dl>
      <a href={href("object", ["admissionregistration.k8s.io", plural, "-", configuration.metadata.name])}>{configuration.metadata.name}</a>
    </section>
  );
}
