import { useState } from "preact/hooks";
import { send } from "../../api/client";
import { curlCommand, fillPath, kubectlCommand, missingParameters, type Operation, type Parameter } from "../../logic/openapi";
import { Command } from "../../ui/code";
import { Problem } from "../../ui/states";

interface Answer {
  code: number;
  milliseconds: number;
  body: string;
}

const MOST = 200_000;
/** A watch does not end, so the form asks for what exists now. */
const HIDDEN = new Set(["watch", "allowWatchBookmarks", "sendInitialEvents"]);

/** A form for one operation, the commands with the same effect, and the answer of the server. */
export function OperationForm({ operation }: { operation: Operation }) {
  const [values, setValues] = useState<Record<string, string>>(() => defaults(operation));
  const [body, setBody] = useState("");
  const [type, setType] = useState(preferredType(operation.bodyTypes));
  const [answer, setAnswer] = useState<Answer>();
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const path = fillPath(operation, values);
  const missing = missingParameters(operation, values);
  const hasBody = operation.bodyTypes.length > 0 && operation.method !== "DELETE";

  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    setAnswer(undefined);
    const began = performance.now();
    try {
      const response = await send(operation.method, path, hasBody ? { body, contentType: type } : {});
      const text = await response.text();
      setAnswer({ code: response.status, milliseconds: performance.now() - began, body: pretty(text) });
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };

  return (
    <div class="columns">
      <form class="card" onSubmit={submit}>
        <h2>
          <span class={`method ${operation.method}`}>{operation.method}</span> <code class="wrap">{operation.path}</code>
        </h2>
        <p class="muted">{operation.summary}</p>
        {operation.parameters
          .filter((one) => (one.in === "path" || one.in === "query") && !HIDDEN.has(one.name))
          .map((one) => (
            <Field key={one.name} parameter={one} value={values[one.name] ?? ""} set={(value) => setValues((old) => ({ ...old, [one.name]: value }))} />
          ))}
        {hasBody && (
          <>
            <label for="body">Body</label>
            <select aria-label="Type of the body" value={type} onChange={(event) => setType(event.currentTarget.value)}>
              {operation.bodyTypes.filter((one) => one !== "*/*").map((one) => <option key={one}>{one}</option>)}
            </select>
            <textarea id="body" class="short" spellcheck={false} value={body} onInput={(event) => setBody(event.currentTarget.value)} placeholder={'{"apiVersion": …}'} />
          </>
        )}
        <div class="buttons">
          <button type="submit" class={operation.method === "DELETE" ? "danger" : "primary"} disabled={busy || missing.length > 0}>
            {busy ? "Waiting…" : "Try it"}
          </button>
          {missing.length > 0 && <span class="muted">Needs: {missing.join(", ")}</span>}
        </div>
      </form>
      <div>
        <Command label="kubectl" text={kubectlCommand(operation.method, path, hasBody ? body : "")} />
        <Command label="curl" text={curlCommand(operation.method, path, type, hasBody ? body : "")} />
        {error !== undefined && <Problem error={error} />}
        {answer && (
          <section aria-label="Answer" aria-live="polite">
            <h2>
              <span class={`badge ${answer.code < 400 ? "" : "bad"}`}>{answer.code}</span> <span class="muted">{Math.round(answer.milliseconds)} ms</span>
            </h2>
            <pre class="code answer" tabIndex={0}>{answer.body}</pre>
          </section>
        )}
      </div>
    </div>
  );
}

function Field({ parameter, value, set }: { parameter: Parameter; value: string; set: (value: string) => void }) {
  const id = `parameter-${parameter.name}`;
  const boolean = parameter.schema?.type === "boolean";
  return (
    <div class="field">
      <label for={id} title={parameter.description}>
        {parameter.name}
        {parameter.in === "path" && <span class="muted"> (path)</span>}
      </label>
      {boolean ? (
        <select id={id} value={value} onChange={(event) => set(event.currentTarget.value)}>
          <option value="" />
          <option>true</option>
          <option>false</option>
        </select>
      ) : (
        <input id={id} value={value} required={parameter.in === "path"} inputMode={parameter.schema?.type === "integer" ? "numeric" : "text"} onInput={(event) => set(event.currentTarget.value)} />
      )}
    </div>
  );
}

function defaults(operation: Operation): Record<string, string> {
  const values: Record<string, string> = {};
  for (const parameter of operation.parameters) {
    if (parameter.name === "namespace" && parameter.in === "path") values.namespace = "default";
    if (parameter.name === "limit" && operation.method === "GET") values.limit = "20";
  }
  return values;
}

function preferredType(types: string[]): string {
  for (const wanted of ["application/json", "application/merge-patch+json"]) if (types.includes(wanted)) return wanted;
  return types.find((type) => type !== "*/*") ?? "application/json";
}

function pretty(text: string): string {
  let shown = text;
  try {
    shown = JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // Logs and metrics are no JSON.
  }
  return shown.length > MOST ? `${shown.slice(0, MOST)}\n… ${shown.length - MOST} more characters` : shown;
}
