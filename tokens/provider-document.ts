// ProviderDocument: reads a JSON text from the identity provider, within limits of time and size. Redirects are not followed: both
// documents have fixed addresses, and a redirect is what a login page or a foreign proxy answers.
import { printable } from '@svc/kit/printable';

export type Fetch = typeof globalThis.fetch;

export type DocumentAnswer =
  | { readonly kind: 'text'; readonly text: string }
  /** A sentence without full stop about what went wrong, fit for a log. */
  | { readonly kind: 'problem'; readonly problem: string };

export interface DocumentRequest {
  readonly url: string;
  readonly fetch: Fetch;
  /** Aborts when the time is over. */
  readonly signal: AbortSignal;
}

/** Size of a document in bytes, after decompression. */
export const DOCUMENT_BYTES_MAX = 1024 * 1024;

/** Never rejects. */
export async function readDocument({
  url,
  fetch,
  signal,
}: DocumentRequest): Promise<DocumentAnswer> {
  try {
    const response = await fetch(url, {
      signal,
      redirect: 'manual',
      headers: { accept: 'application/json' },
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      return problem(url, `answered ${response.status} instead of 200`);
    }
    const text = await boundedText(response);
    return text === undefined
      ? problem(url, `answered more than ${DOCUMENT_BYTES_MAX} bytes`)
      : { kind: 'text', text };
  } catch (error) {
    return problem(url, signal.aborted ? 'did not answer completely in time' : failureOf(error));
  }
}

/** Returns undefined for a body that is too large; the rest of it is not read. */
async function boundedText(response: Response): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    // Leaving the loop cancels the body.
    if (bytes > DOCUMENT_BYTES_MAX) return undefined;
    chunks.push(chunk);
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
}

function problem(url: string, what: string): DocumentAnswer {
  return { kind: 'problem', problem: `${url} ${what}` };
}

/** The message of `fetch` is about the call; its cause says what happened. */
function failureOf(error: unknown): string {
  const { cause, message } = error as Error & { readonly cause?: NodeJS.ErrnoException };
  return `could not be read (${printable(cause?.code ?? message)})`;
}
