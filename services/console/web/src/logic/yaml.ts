import { parse, stringify } from "yaml";

export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata: {
    name: string;
    namespace?: string;
    uid?: string;
    resourceVersion?: string;
    creationTimestamp?: string;
    labels?: Record<string, string>;
    ownerReferences?: OwnerReference[];
    managedFields?: ManagedFields[];
    [field: string]: unknown;
  };
  [field: string]: unknown;
}

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
}

export interface ManagedFields {
  manager: string;
  operation: string;
  apiVersion: string;
  time?: string;
  subresource?: string;
  fieldsV1?: Record<string, unknown>;
}

/** The YAML of an object without its managed fields, which have their own view. */
export function toYaml(object: KubeObject): string {
  const { managedFields: _, ...metadata } = object.metadata;
  return stringify({ ...object, metadata }, { lineWidth: 0, aliasDuplicateObjects: false });
}

/** Throws an Error with line and column if the text is no YAML mapping. */
export function fromYaml(text: string): KubeObject {
  const value: unknown = parse(text, { maxAliasCount: 100 });
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error("the document is not an object");
  return value as KubeObject;
}

export interface Token {
  kind: "key" | "string" | "number" | "word" | "comment" | "plain";
  text: string;
}

/** The parts of a line of YAML, for colours. */
export function tokens(line: string): Token[] {
  const match = /^(\s*(?:- )*)((?:"(?:[^"\\]|\\.)*"|[^\s"'#:][^:#]*?|'[^']*')(?=:(?:\s|$)))?(:)?(.*)$/.exec(line);
  if (!match) return [{ kind: "plain", text: line }];
  const [, indent = "", key, colon = "", rest = ""] = match;
  if (key === undefined) return [{ kind: "plain", text: indent }, valueToken(colon + rest)];
  return [{ kind: "plain", text: indent }, { kind: "key", text: key }, { kind: "plain", text: colon }, valueToken(rest)];
}

function valueToken(text: string): Token {
  const value = text.trim();
  if (value.startsWith("#")) return { kind: "comment", text };
  if (/^-?\d+(\.\d+)?$/.test(value)) return { kind: "number", text };
  if (/^(true|false|null|\{\}|\[\]|\|[-+]?|>[-+]?)$/.test(value)) return { kind: "word", text };
  return { kind: "string", text };
}

export interface FieldNode {
  name: string;
  children: FieldNode[];
}

/** The fields that a manager owns, as a tree: "f:spec" is shown as "spec". */
export function fieldTree(fields: Record<string, unknown> | undefined): FieldNode[] {
  return Object.entries(fields ?? {})
    .filter(([name]) => name !== ".")
    .map(([name, value]) => ({
      name: name.replace(/^[fkv]:/, ""),
      children: fieldTree(value as Record<string, unknown>),
    }));
}
