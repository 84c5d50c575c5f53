// Heads of messages, as a reader gives them after all checks. Text is latin1: a character for each byte of the wire.
import type { FieldList } from './field-list.ts';
import type { Framing } from './framing.ts';

export type HttpVersion = '1.0' | '1.1';

export interface RequestHead {
  /** Any token, in the case of the wire. */
  readonly method: string;
  /** The request target as it was on the wire. */
  readonly target: string;
  /** The target in origin form, with its query, or `*` for `OPTIONS *`. */
  readonly path: string;
  /** Host, and port if one was given: of an absolute target, otherwise of `Host`. Empty for HTTP/1.0 without either. */
  readonly authority: string;
  /** Scheme of an absolute target, in lower case. */
  readonly scheme: 'http' | 'https' | undefined;
  readonly version: HttpVersion;
  readonly fields: FieldList;
  readonly framing: Framing;
  /** Whether another request may follow on this connection: HTTP/1.1 without `Connection: close`. */
  readonly keepsOpen: boolean;
  /** Whether the client waits for a 100 response before it sends the body. */
  readonly expectsContinue: boolean;
}

export interface ResponseHead {
  /** From 100 to 999, but never 101. */
  readonly status: number;
  /** May be empty. */
  readonly reason: string;
  readonly version: HttpVersion;
  /** Without the Content-Length of a 1xx or 204 response, which may not have one. */
  readonly fields: FieldList;
  /** Takes the request's method and the status into account: `none` for HEAD, 1xx, 204 and 304. */
  readonly framing: Framing;
  /** Whether another request may follow on this connection. */
  readonly keepsOpen: boolean;
}
