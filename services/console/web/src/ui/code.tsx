import { useState } from "preact/hooks";
import { tokens } from "../logic/yaml";
import { withContext, type DiffLine } from "../logic/diff";

/** YAML with colours. Very long documents have none, because every part is an element. */
export function Yaml({ text }: { text: string }) {
  const lines = text.split("\n");
  if (lines.length > 3000) return <pre class="code" tabIndex={0}>{text}</pre>;
  return (
    <pre class="code" tabIndex={0}>
      {lines.map((line, index) => (
        <span key={index}>
          {tokens(line).map((token, part) => (token.kind === "plain" ? token.text : <span key={part} class={`y-${token.kind}`}>{token.text}</span>))}
          {"\n"}
        </span>
      ))}
    </pre>
  );
}

export function Diff({ lines }: { lines: DiffLine[] }) {
  const sign = { same: " ", added: "+", removed: "-" };
  return (
    <pre class="code diff" tabIndex={0}>
      {withContext(lines).map((line, index) =>
        line === undefined ? (
          <span key={index} class="d-gap">
            {"⋯\n"}
          </span>
        ) : (
          <span key={index} class={`d-${line.kind}`}>
            {sign[line.kind]} {line.text}
            {"\n"}
          </span>
        ),
      )}
    </pre>
  );
}

/** A command with a button that copies it. */
export function Command({ label, text }: { label: string; text: string }) {
  const [copied, setCopied] = useState(false);
  const copy = () => {
    void navigator.clipboard?.writeText(text).then(() => {
      setCopied(true);
      setTimeout(() => setCopied(false), 1500);
    });
  };
  return (
    <div class="command">
      <span class="muted">{label}</span>
      <pre class="code" tabIndex={0}>
        {text}
      </pre>
      <button type="button" class="small" onClick={copy}>
        {copied ? "Copied" : "Copy"}
      </button>
    </div>
  );
}
