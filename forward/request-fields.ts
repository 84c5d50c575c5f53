// RequestFields: which fields of a request pass, and which the proxy sets. One table says what becomes of each class of
// fields on the way to the process, under a mount, in a call, and from the gateway on.
//
// Invariants: fields that pass keep their bytes, order, case and repetition. Every copy of a field that the proxy sets is
// removed. Each forwarded head has exactly one `Host`.
import {
  CALLER_HEADER,
  FORWARDED_FOR_HEADER,
  FORWARDED_HOST_HEADER,
  FORWARDED_PORT_HEADER,
  FORWARDED_PROTO_HEADER,
} from '@svc/client';
import type { FieldList } from '@svc/http1';
import type { Arrival } from './arrival.ts';
import type { AddressedTo } from './authority.ts';
import { callerText } from './caller-text.ts';
import { fieldClass, type FieldClass } from './field-class.ts';
import { nominatedFields } from './nominated-fields.ts';

/** `inside`: from the gateway to whatever answers, which sees the client's address at the end of `X-Forwarded-For`. */
export type Destination = 'process' | 'mount' | 'call' | 'inside';

type Handling = 'pass' | 'remove' | 'replace' | 'append' | 'unless-from-service';

/**
 * `replace`: by the field's value for the destination; the fields `forwarded-address` are added behind the others. `append`: joined
 * into one field, with the client's address behind, and added behind the others.
 */
const HANDLING: Readonly<Record<FieldClass, Readonly<Record<Destination, Handling>>>> = {
  'end-to-end': { process: 'pass', mount: 'pass', call: 'pass', inside: 'pass' },
  connection: { process: 'remove', mount: 'remove', call: 'remove', inside: 'remove' },
  hop: { process: 'remove', mount: 'remove', call: 'remove', inside: 'remove' },
  host: { process: 'replace', mount: 'replace', call: 'replace', inside: 'replace' },
  platform: { process: 'remove', mount: 'remove', call: 'remove', inside: 'remove' },
  'answered-by': { process: 'remove', mount: 'remove', call: 'remove', inside: 'remove' },
  forwarded: { process: 'remove', mount: 'remove', call: 'pass', inside: 'remove' },
  'forwarded-address': { process: 'remove', mount: 'remove', call: 'pass', inside: 'remove' },
  'forwarded-for': {
    process: 'unless-from-service',
    mount: 'unless-from-service',
    call: 'pass',
    inside: 'append',
  },
  'folded-forwarded-for': { process: 'remove', mount: 'remove', call: 'pass', inside: 'remove' },
};

export interface RequestPassage {
  readonly destination: Destination;
  /** Value of `Host`. */
  readonly host: string;
  /** Where the request came from; undefined for a call, which the process itself makes. */
  readonly arrival: Arrival | undefined;
  /** Address to which the request was sent; undefined: the process is not informed of one. */
  readonly addressedTo: AddressedTo | undefined;
  /** Address of the client, for the destination `inside`. */
  readonly clientAddress?: string;
}

/** Returns the fields to send: name, value, name, value and so on. */
export function passedRequestFields(fields: FieldList, passage: RequestPassage): string[] {
  const { destination, host, arrival } = passage;
  const isFromService = arrival?.caller.kind === 'service';
  const nominated = nominatedFields(fields);
  const passed: string[] = [];
  let hasHost = false;
  const { flat } = fields;
  for (let at = 0; at < flat.length; at += 2) {
    const name = flat[at]!;
    const kind = fieldClass(name);
    const handling = HANDLING[kind][destination];
    if (
      handling === 'remove' ||
      handling === 'append' ||
      (handling === 'unless-from-service' && isFromService)
    )
      continue;
    if (handling === 'replace') {
      if (!hasHost) passed.push(name, host);
      hasHost = true;
    } else if (kind !== 'end-to-end' || !isNominated(nominated, name)) {
      passed.push(name, flat[at + 1]!);
    }
  }
  if (!hasHost) passed.unshift('Host', host);
  if (passage.clientAddress !== undefined)
    passed.push(
      FORWARDED_FOR_HEADER,
      [...fields.all('x-forwarded-for').filter(Boolean), passage.clientAddress].join(', '),
    );
  addPlatformFields(passed, passage);
  return passed;
}

function isNominated(nominated: ReadonlySet<string> | undefined, name: string): boolean {
  return nominated !== undefined && nominated.has(name.toLowerCase());
}

function addPlatformFields(
  passed: string[],
  { destination, arrival, addressedTo }: RequestPassage,
): void {
  if (destination === 'process' && arrival !== undefined)
    passed.push(CALLER_HEADER, callerText(arrival.caller));
  if (destination === 'call' || addressedTo === undefined) return;
  const { scheme, authority, port } = addressedTo;
  passed.push(
    FORWARDED_PROTO_HEADER,
    scheme,
    FORWARDED_HOST_HEADER,
    authority,
    FORWARDED_PORT_HEADER,
    String(port),
  );
}

/** Fields that have no meaning in trailers, beside those of the hop and of the platform (RFC 9110, section 6.5.1). */
const NOT_IN_TRAILERS: ReadonlySet<string> = new Set([
  'authorization',
  'content-encoding',
  'content-length',
  'content-range',
  'content-type',
  'cookie',
  'expect',
  'set-cookie',
]);

/** Returns the trailers that pass, of a request or of a response: end-to-end fields that have a meaning there. */
export function passedTrailers(trailers: FieldList): string[] {
  const passed: string[] = [];
  const { flat } = trailers;
  for (let at = 0; at < flat.length; at += 2) {
    const name = flat[at]!;
    if (fieldClass(name) !== 'end-to-end' || NOT_IN_TRAILERS.has(name.toLowerCase())) continue;
    passed.push(name, flat[at + 1]!);
  }
  return passed;
}
