import type { Sample } from "./metrics";

export interface WebhookRule {
  operations?: string[];
  apiGroups?: string[];
  apiVersions?: string[];
  resources?: string[];
  scope?: string;
}

export interface Webhook {
  name: string;
  clientConfig: { url?: string; service?: { namespace: string; name: string; path?: string; port?: number } };
  rules?: WebhookRule[];
  failurePolicy?: string;
  timeoutSeconds?: number;
  matchPolicy?: string;
  sideEffects?: string;
}

export interface WebhookConfiguration {
  kind?: string;
  metadata: { name: string };
  webhooks?: Webhook[] | null;
}

export const WEBHOOK_FAMILIES = new Set([
  "apiserver_admission_webhook_rejection_count",
  "apiserver_admission_webhook_fail_open_count",
  "apiserver_admission_webhook_request_total",
  "apimesh_admission_webhook_failing_seconds",
  "apiserver_validating_admission_policy_check_total",
  "apiserver_mutating_admission_policy_check_total",
]);

export interface WebhookCounts {
  calls: number;
  refused: number; // the webhook said no
  failed: number; // the webhook could not be called, and the request was refused
  ignored: number; // the webhook could not be called, and the request continued
}

/** What happened to the calls of a webhook, by its name. */
export function countCalls(samples: Sample[]): Map<string, WebhookCounts> {
  const counts = new Map<string, WebhookCounts>();
  const get = (name: string) => {
    let found = counts.get(name);
    if (!found) counts.set(name, (found = { calls: 0, refused: 0, failed: 0, ignored: 0 }));
    return found;
  };
  for (const { name, labels, value } of samples) {
    if (labels.name === undefined) continue;
    if (name === "apiserver_admission_webhook_request_total") get(labels.name).calls += value;
    if (name === "apiserver_admission_webhook_fail_open_count") get(labels.name).ignored += value;
    if (name === "apiserver_admission_webhook_rejection_count") {
      if (labels.error_type === "no_error") get(labels.name).refused += value;
      else get(labels.name).failed += value;
    }
  }
  return counts;
}

export function describeRule(rule: WebhookRule): string {
  const groups = (rule.apiGroups ?? []).map((group) => (group === "" ? "core" : group));
  const operations = (rule.operations ?? []).map((operation) => operation.toLowerCase()).join(", ");
  return `${operations} ${(rule.resources ?? []).join(", ")} (${groups.join(", ")})`;
}

export function describeTarget(webhook: Webhook): string {
  const { service, url } = webhook.clientConfig;
  return service ? `service ${service.namespace}/${service.name}:${service.port ?? 443}${service.path ?? ""}` : (url ?? "");
}

export interface PolicyChecks {
  [action: string]: number; // "allow", "deny", "audit", "warn"
}

/** The results of an admission policy by its name. */
export function countChecks(samples: Sample[]): Map<string, PolicyChecks> {
  const checks = new Map<string, PolicyChecks>();
  for (const { name, labels, value } of samples) {
    if (!name.endsWith("_admission_policy_check_total") || !labels.policy) continue;
    const entry = checks.get(labels.policy) ?? {};
    const action = labels.error_type && labels.error_type !== "no_error" && labels.enforcement_action !== "deny" ? "error" : (labels.enforcement_action ?? "allow");
    entry[action] = (entry[action] ?? 0) + value;
    checks.set(labels.policy, entry);
  }
  return checks;
}

/** Reads a dump of priority and fairness: comma separated values with a head, padded by spaces. */
export function readDump(text: string): Record<string, string>[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const head = (lines[0] ?? "").split(",").map((name) => name.trim());
  return lines.slice(1).map((line) => {
    const cells = line.split(",").map((cell) => cell.trim());
    return Object.fromEntries(head.map((name, index) => [name, cells[index] ?? ""]));
  });
}
