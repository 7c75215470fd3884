/** Requests to the API server, which the console forwards with the credentials of the session. */

export interface Status {
  code: number;
  reason?: string;
  message?: string;
  details?: { causes?: { field?: string; message?: string }[] };
}

/** An answer of the API server, or of the console, that reports a failure. */
export class ApiError extends Error {
  constructor(readonly status: Status) {
    super(status.message || `the server answered with ${status.code}`);
  }
  get code() {
    return this.status.code;
  }
}

export interface RequestOptions {
  body?: string;
  contentType?: string;
  accept?: string;
  signal?: AbortSignal;
}

const KEY = "apimesh-console-key";
let onLogout: () => void = () => undefined;

/** Calls `listener` when the session has ended. */
export function whenLoggedOut(listener: () => void) {
  onLogout = listener;
}

export function hasSession(): boolean {
  return localStorage.getItem(KEY) !== null;
}

/** Begins a session with a one-time login, or with a bearer token. */
export async function login(credential: { secret: string } | { token: string }): Promise<void> {
  const answer = await fetch("/console/login", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(credential),
  });
  if (!answer.ok) throw await errorOf(answer);
  const { key } = (await answer.json()) as { key: string };
  localStorage.setItem(KEY, key);
}

export async function logout(): Promise<void> {
  await fetch("/console/logout", { method: "POST", headers: sessionHeaders() }).catch(() => undefined);
  localStorage.removeItem(KEY);
  onLogout();
}

/** The answer with any status code but 401. `path` is the path at the API server. */
export async function send(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
  const headers: Record<string, string> = { ...sessionHeaders(), Accept: options.accept ?? "application/json" };
  if (options.body !== undefined) headers["Content-Type"] = options.contentType ?? "application/json";
  let answer: Response;
  try {
    answer = await fetch(`/cluster${path}`, { method, headers, body: options.body, signal: options.signal });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new ApiError({ code: 0, reason: "Unreachable", message: "The console does not answer. Is `apimesh console` still running?" });
  }
  if (answer.status === 401) {
    localStorage.removeItem(KEY);
    onLogout();
  }
  return answer;
}

/** The successful answer; throws an ApiError for all others. */
export async function request(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
  const answer = await send(method, path, options);
  if (!answer.ok) throw await errorOf(answer);
  return answer;
}

export async function getJson<T>(path: string, options: RequestOptions = {}): Promise<T> {
  return (await request("GET", path, options)).json() as Promise<T>;
}

export async function getText(path: string, options: RequestOptions = {}): Promise<string> {
  return (await request("GET", path, { accept: "text/plain, */*", ...options })).text();
}

export async function post<T>(path: string, body: unknown): Promise<T> {
  return (await request("POST", path, { body: JSON.stringify(body) })).json() as Promise<T>;
}

function sessionHeaders(): Record<string, string> {
  return { "X-Console-Key": localStorage.getItem(KEY) ?? "" };
}

async function errorOf(answer: Response): Promise<ApiError> {
  const text = await answer.text();
  try {
    const status = JSON.parse(text) as Status;
    if (typeof status.message === "string") return new ApiError({ ...status, code: status.code ?? answer.status });
  } catch {
    // Not every server behind the aggregator answers with a Status.
  }
  return new ApiError({ code: answer.status, message: text.slice(0, 2000) });
}
