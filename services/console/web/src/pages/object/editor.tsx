import { useState } from "preact/hooks";
import { request } from "../../api/client";
import { pathOf, type Resource } from "../../api/discovery";
import { diffLines, type DiffLine } from "../../logic/diff";
import { fromYaml, toYaml, type KubeObject } from "../../logic/yaml";
import { Diff } from "../../ui/code";
import { Empty, Problem } from "../../ui/states";

const MANAGER = "apimesh-console";

/** Edits the YAML of an object. Nothing is saved before the server has made a dry run and the user has seen the diff. */
export function Editor({ resource, object, onSaved }: { resource: Resource; object: KubeObject; onSaved: () => void }) {
  const [base, setBase] = useState(object);
  const [text, setText] = useState(() => toYaml(object));
  const [review, setReview] = useState<{ lines: DiffLine[]; warnings: string[] }>();
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const changed = object.metadata.resourceVersion !== base.metadata.resourceVersion;

  const put = async (dryRun: boolean) => {
    const path = `${pathOf(resource, base.metadata.namespace, base.metadata.name)}?fieldManager=${MANAGER}&fieldValidation=Strict${dryRun ? "&dryRun=All" : ""}`;
    const answer = await request("PUT", path, { body: JSON.stringify(fromYaml(text)) });
    return { object: (await answer.json()) as KubeObject, warnings: readWarnings(answer.headers.get("Warning")) };
  };
  const run = async (work: () => Promise<void>) => {
    setBusy(true);
    setError(undefined);
    try {
      await work();
    } catch (failure) {
      setReview(undefined);
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  const check = () =>
    run(async () => {
      const result = await put(true);
      setReview({ lines: diffLines(toYaml(base), toYaml(withoutNoise(result.object, base))), warnings: result.warnings });
    });
  const save = () =>
    run(async () => {
      await put(false);
      onSaved();
    });
  const restart = () => {
    setBase(object);
    setText(toYaml(object));
    setReview(undefined);
    setError(undefined);
  };

  return (
    <div class="editor">
      {changed && (
        <p class="notice">
          The object has changed since you began.{" "}
          <button type="button" class="small" onClick={restart}>
            Begin again with the new version
          </button>
        </p>
      )}
      {error !== undefined && <Problem error={error} needs={`update on ${resource.plural}`} />}
      {review ? (
        <>
          <h2>What the server would store</h2>
          {review.warnings.map((warning) => (
            <p key={warning} class="notice">
              {warning}
            </p>
          ))}
          {review.lines.every((line) => line.kind === "same") ? <Empty title="No change">The server would store the same object.</Empty> : <Diff lines={review.lines} />}
          <div class="buttons">
            <button type="button" class="primary" disabled={busy} onClick={() => void save()}>
              Save
            </button>
            <button type="button" disabled={busy} onClick={() => setReview(undefined)}>
              Continue editing
            </button>
          </div>
        </>
      ) : (
        <>
          <textarea aria-label="YAML of the object" spellcheck={false} value={text} onInput={(event) => setText(event.currentTarget.value)} />
          <div class="buttons">
            <button type="button" class="primary" disabled={busy} onClick={() => void check()}>
              {busy ? "Asking the server…" : "Review changes"}
            </button>
            <button type="button" disabled={busy} onClick={restart}>
              Discard
            </button>
            <span class="muted">The server checks the object (dry run) before anything is saved.</span>
          </div>
        </>
      )}
    </div>
  );
}

/** Fields that change with every write are no difference. */
function withoutNoise(result: KubeObject, base: KubeObject): KubeObject {
  return { ...result, metadata: { ...result.metadata, resourceVersion: base.metadata.resourceVersion } };
}

/** The texts of a Warning header: 299 - "text", 299 - "text" */
function readWarnings(header: string | null): string[] {
  return [...(header ?? "").matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)].map((match) => match[1]!.replace(/\\(.)/g, "$1"));
}
