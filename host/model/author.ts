// Author: the caller whose request has led to a command, by the access token that the runtime has verified. Inside of the host the
// metadata of requests and calls carries the author as a text, and the journal keeps this text with each record of the command.
//
// Invariant: the entry is set by the host alone. What a module gives under its name is dropped (http/requests/authored-engine.ts), and
// the metadata of a request is made of its trace, so no header becomes an author.
import type { Metadata } from './call.ts';

export interface Author {
  /** URL of the identity provider. */
  readonly issuer: string;
  /** Says who the caller is, among those of the issuer. */
  readonly subject: string;
}

/** Name of the entry of metadata that has the author's text. */
export const AUTHOR_FIELD = 'x-svc-by';

/** Returns the metadata of a request with this author. */
export function authoredMetadata(metadata: Metadata, author: Author): Metadata {
  return [...metadata, [AUTHOR_FIELD, authorText(author)]];
}

/** Returns the author's text in metadata; undefined if there is none. */
export function authorIn(metadata: Metadata): string | undefined {
  for (const entry of metadata) if (entry[0] === AUTHOR_FIELD) return entry[1];
  return undefined;
}

/** Returns the metadata without any author. */
export function withoutAuthor(metadata: Metadata): Metadata {
  return authorIn(metadata) === undefined
    ? metadata
    : metadata.filter(([name]) => name !== AUTHOR_FIELD);
}

/** Returns the JSON text of issuer and subject, in this order. */
export function authorText({ issuer, subject }: Author): string {
  return JSON.stringify([issuer, subject]);
}

/** Returns the author in a text of the journal; undefined if there is none, or the text is not of this form. */
export function authorOf(text: string | undefined): Author | undefined {
  if (text === undefined) return undefined;
  try {
    const pair: unknown = JSON.parse(text);
    if (!Array.isArray(pair) || pair.length !== 2) return undefined;
    const [issuer, subject] = pair as unknown[];
    if (typeof issuer !== 'string' || typeof subject !== 'string') return undefined;
    return { issuer, subject };
  } catch {
    return undefined;
  }
}
