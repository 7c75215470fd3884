import { request } from "./client";

export interface WatchEvent<T> {
  type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  object: T;
}

/** Splits a stream of text into lines. */
export class LineSplitter {
  private rest = "";
  push(text: string): string[] {
    const lines = (this.rest + text).split("\n");
    this.rest = lines.pop() ?? "";
    return lines.filter((line) => line !== "");
  }
}

/**
 * Follows a watch until it ends or is aborted. `handle` gets the events of one piece of the stream together; while it
 * is working, nothing more is read, so a slow page slows down the server and not its own memory.
 */
export async function follow<T>(path: string, accept: string, signal: AbortSignal, handle: (events: WatchEvent<T>[]) => void | Promise<void>): Promise<void> {
  const answer = await request("GET", path, { accept, signal });
  const splitter = new LineSplitter();
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = splitter.push(value);
    if (lines.length > 0) await handle(lines.map((line) => JSON.parse(line) as WatchEvent<T>));
  }
}
