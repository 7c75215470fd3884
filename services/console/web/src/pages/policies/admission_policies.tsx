import { ApiError, getJson, getText } from "../../api/client";
import { readMetrics } from "../../logic/metrics";
import { countChecks, describeRule, WEBHOOK_FAMILIES, type PolicyChecks, type WebhookRule } from "../../logic/policies";
import { href } from "../../router";
import { Empty, Loading, Problem } from "../../ui/states";
import { useLoaded, useNow } from "../../ui/use";

interface Policy {
  metadata: { name: string };
  spec: { failurePolicy?: string; matchConstraints?: { resourceRules?: WebhookRule[] }; validations?: { expression: string; message?: string }[]; mutations?: unknown[] };
  status?: { typeChecking?: { expressionWarnings?: { fieldRef: string; warning: string }[] }; conditions?: { type: string; status: string; message?: string }[] };
}

interface Binding {
  metadata: { name: string };
  spec: { policyName: string; validationActions?: string[] };
}

const GROUP = "/apis/admissionregistration.k8s.io/v1";
const KINDS = ["validatingadmissionpolicies", "mutatingadmissionpolicies"];

export function AdmissionPolicies() {
  const round = Math.floor(useNow(3000) / 3000);
  const policies = useLoaded((signal) => readPolicies(signal), [round]);
  const checks = useLoaded(async (signal) => countChecks(readMetrics(await getText("/metrics", { signal }), WEBHOOK_FAMILIES)), [round]);
  if (policies.error) return <Problem error={policies.error} needs={`list on ${KINDS.join(" and ")} and their bindings`} />;
  if (!policies.value) return <Loading what="policies" />;
  if (policies.value.length === 0) return <Empty title="No admission policies">A ValidatingAdmissionPolicy refuses requests by CEL expressions, without another server.</Empty>;
  return (
    <>
      {policies.value.map(({ plural, policy, bindings }) => (
        <PolicyCard key={`${plural}/${policy.metadata.name}`} plural={plural} policy={policy} bindings={bindings} checks={checks.value?.get(policy.metadata.name)} />
      ))}
    </>
  );
}

async function readPolicies(signal: AbortSignal) {
  const items = async <T,>(plural: string) => {
    try {
      return (await getJson<{ items?: T[] }>(`${GROUP}/${plural}`, { signal })).items ?? [];
    } catch (error) {
      if (error instanceof ApiError && error.code === 404) return []; // older servers do not have mutating policies
      throw error;
    }
  };
  const all = await Promise.all(
    KINDS.map(async (plural) => {
      const bindings = await items<Binding>(plural.replace("policies", "policybindings"));
      const policies = await items<Policy>(plural);
      return policies.map((policy) => ({ plural, policy, bindings: bindings.filter((one) => one.spec.policyName === policy.metadata.name) }));
    }),
  );
  return all.flat();
}

function PolicyCard({ plural, policy, bindings, checks }: { plural: string; policy: Policy; bindings: Binding[]; checks?: PolicyChecks }) {
  const warnings = policy.status?.typeChecking?.expressionWarnings ?? [];
  return (
    <section class={`card ${warnings.length > 0 || bindings.length === 0 ? "troubled" : ""}`}>
      <h2>
        {policy.metadata.name} <span class="badge">{plural.startsWith("validating") ? "validating" : "mutating"}</span>
        <span class="badge quiet">failure policy: {policy.spec.failurePolicy ?? "Fail"}</span>
      </h2>
      {bindings.length === 0 && <p class="notice">No binding uses this policy, so it has no effect.</p>}
      {warnings.map((warning, index) => (
        <p key={index} class="notice">
          <code>{warning.fieldRef}</code>: {warning.warning}
        </p>
      ))}
      <dl class="pairs">
        <div>
          <dt>for</dt>
          <dd>
            {(policy.spec.matchConstraints?.resourceRules ?? []).map((rule, index) => (
              <div key={index}>{describeRule(rule)}</div>
            ))}
          </dd>
        </div>
        {(policy.spec.validations ?? []).length > 0 && (
          <div>
            <dt>requires</dt>
            <dd>
              {policy.spec.validations!.map((one, index) => (
                <div key={index}>
                  <code class="wrap">{one.expression}</code> {one.message && <span class="muted">{one.message}</span>}
                </div>
              ))}
            </dd>
          </div>
        )}
        <div>
          <dt>bindings</dt>
          <dd>{bindings.map((one) => `${one.metadata.name} (${(one.spec.validationActions ?? []).join(", ") || "applies"})`).join(", ") || "none"}</dd>
        </div>
        <div>
          <dt>results</dt>
          <dd>
            {Object.entries(checks ?? {})
              .map(([action, count]) => `${count} ${action}`)
              .join(", ") || "none yet"}
          </dd>
        </div>
      </dl>
      <a href={href("object", ["admissionregistration.k8s.io", plural, "-", policy.metadata.name])}>YAML</a>
    </section>
  );
}
