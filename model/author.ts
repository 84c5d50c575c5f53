// Author: the metadata of requests and calls carries the author of a command inside of the host, as the text that the journal keeps
// with each record of the command (contract/author.ts).
//
// Invariant: the entry is set by the host alone. What a module gives under its name is dropped (http/requests/authored-engine.ts), and
// the metadata of a request is made of its trace, so no header becomes an author.
import { type Author, authorText } from '@svc/contract';
import type { Metadata } from './call.ts';

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
