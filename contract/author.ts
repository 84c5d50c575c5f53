// Author: the caller whose request has led to an event, by the access token that the runtime has verified. The journal keeps it as a
// text with the event's record.
export interface Author {
  /** URL of the identity provider. */
  readonly issuer: string;
  /** Says who the caller is, among those of the issuer. */
  readonly subject: string;
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
