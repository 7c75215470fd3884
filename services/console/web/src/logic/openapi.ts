export interface Parameter {
  name: string;
  in: "path" | "query" | "header" | "body";
  required?: boolean;
  description?: string;
  schema?: { type?: string };
}

export interface Operation {
  method: string; // "GET"
  path: string;
  summary: string;
  parameters: Parameter[];
  bodyTypes: string[]; // empty: the operation has no body
}

interface Document {
  paths?: Record<string, Record<string, unknown> & { parameters?: Parameter[] }>;
}

interface RawOperation {
  description?: string;
  operationId?: string;
  parameters?: Parameter[];
  requestBody?: { content?: Record<string, unknown> };
}

const METHODS = ["get", "post", "put", "patch", "delete"];

/** The operations of an OpenAPI v3 document, in the order of its paths. */
export function readOperations(document: Document): Operation[] {
  const operations: Operation[] = [];
  for (const [path, item] of Object.entries(document.paths ?? {}).sort(([one], [other]) => one.localeCompare(other))) {
    for (const method of METHODS) {
      const operation = item[method] as RawOperation | undefined;
      if (!operation) continue;
      operations.push({
        method: method.toUpperCase(),
        path,
        summary: operation.description || operation.operationId || "",
        parameters: [...(item.parameters ?? []), ...(operation.parameters ?? [])].sort((one, other) => Number(other.in === "path") - Number(one.in === "path")),
        bodyTypes: Object.keys(operation.requestBody?.content ?? {}),
      });
    }
  }
  return operations;
}

/** The path and query of a request. Path parameters without a value stay in braces. */
export function fillPath(operation: Operation, values: Record<string, string>): string {
  const path = operation.path.replace(/\{(\w+)\}/g, (placeholder, name: string) => (values[name] ? encodeURIComponent(values[name]) : placeholder));
  const query = new URLSearchParams();
  for (const parameter of operation.parameters) {
    const value = values[parameter.name];
    if (parameter.in === "query" && value) query.set(parameter.name, value);
  }
  return query.size > 0 ? `${path}?${query}` : path;
}

export function missingParameters(operation: Operation, values: Record<string, string>): string[] {
  return operation.parameters.filter((one) => one.in === "path" && !values[one.name]).map((one) => one.name);
}

const RAW: Record<string, string> = { GET: "get", POST: "create", PUT: "replace", DELETE: "delete" };

/** The command of kubectl with the same effect. */
export function kubectlCommand(method: string, path: string, body: string): string {
  if (method === "PATCH") return patchCommand(path, body);
  const input = body && method !== "GET" && method !== "DELETE" ? ` -f - <<'EOF'\n${body}\nEOF` : "";
  return `kubectl ${RAW[method]} --raw ${quote(path)}${input}`;
}

/** kubectl cannot send a raw patch, so the parts of the path become arguments. */
function patchCommand(path: string, body: string): string {
  const match = /^\/(?:api|apis\/([^/]+))\/[^/]+(?:\/namespaces\/([^/]+)(?=\/))?\/([^/?]+)\/([^/?]+)(?:\/([^/?]+))?/.exec(path);
  if (!match) return "# kubectl has no command for this patch";
  const [, group, namespace, plural, name, subresource] = match;
  const parts = ["kubectl patch", group ? `${plural}.${group}` : plural, name, namespace ? `-n ${namespace}` : "", subresource ? `--subresource=${subresource}` : ""];
  return `${parts.filter(Boolean).join(" ")} --type=merge -p ${quote(body || "{}")}`;
}

/** The command of curl with the same effect; $SERVER and $TOKEN are left to the user. */
export function curlCommand(method: string, path: string, contentType: string, body: string): string {
  const parts = [`curl --cacert ca.crt -H "Authorization: Bearer $TOKEN"`];
  if (method !== "GET") parts.push(`-X ${method}`);
  if (body) parts.push(`-H ${quote(`Content-Type: ${contentType}`)}`, `--data ${quote(body)}`);
  return [...parts, `"$SERVER"${quote(path)}`].join(" ");
}

/** Quotes a text for a POSIX shell. */
export function quote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replace(/'/g, `'\\''`)}'`;
}
