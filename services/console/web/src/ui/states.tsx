import type { ComponentChildren } from "preact";
import { ApiError } from "../api/client";
import { Icon } from "./icon";

export function Loading({ what }: { what: string }) {
  return (
    <p class="state muted" role="status">
      Loading {what}…
    </p>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="state empty">
      <strong>{title}</strong>
      {children && <p class="muted">{children}</p>}
    </div>
  );
}

/** A failed request. For 403, the message of the API server names the permission that is missing. */
export function Problem({ error, needs }: { error: unknown; needs?: string }) {
  const status = error instanceof ApiError ? error.status : undefined;
  const message = error instanceof Error ? error.message : String((error as { message?: string }).message ?? error);
  return (
    <div class="problem" role="alert">
      <Icon name="alert" />
      <div>
        <strong>{titleOf(status?.code)}</strong>
        <p class="wrap">{message}</p>
        {status?.code === 403 && needs && <p class="muted">This page needs: {needs}.</p>}
        {(status?.details?.causes ?? []).length > 1 && (
          <ul>
            {status!.details!.causes!.map((cause, index) => (
              <li key={index}>
                {cause.field && <code>{cause.field}</code>} {cause.message}
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  );
}

function titleOf(code: number | undefined): string {
  switch (code) {
    case undefined:
      return "Not valid";
    case 0:
      return "No connection";
    case 403:
      return "Not permitted";
    case 404:
      return "Not found";
    case 409:
      return "Changed by someone else";
    case 422:
      return "Not valid";
    case 503:
      return "Not available";
    default:
      return `Refused (${code})`;
  }
}
