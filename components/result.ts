// Result: a value, or the refusal in its place. A refusal is a value too: it is returned, and never thrown.
import { REFUSAL_CODES, type RefusalCode } from '@svc/contract';
import type { Refusal } from '@svc/model/call';

export type Result<Value> = Ok<Value> | Refused;

export class Ok<Value> {
  readonly isOk = true;
  readonly value: Value;

  constructor(value: Value) {
    this.value = value;
  }
}

export interface RefusalDetails {
  /** Details for the calling program; they must have a JSON form. */
  readonly details?: unknown;
  /** The code's name if the code is `OTHER`. */
  readonly otherCode?: string;
}

export class Refused {
  readonly isOk = false;
  readonly code: RefusalCode | 'OTHER';
  /** Message for the person who reads it; the caller receives it. */
  readonly message: string;
  readonly details: unknown;
  readonly otherCode: string | undefined;

  constructor(
    message: string,
    code: RefusalCode | 'OTHER' = 'BAD_REQUEST',
    { details, otherCode }: RefusalDetails = {},
  ) {
    this.message = message;
    this.code = code;
    this.details = details;
    this.otherCode = otherCode;
  }
}

/** Refuses a call: `return refuse('the cart is checked out', 'CONFLICT')`. */
export function refuse(
  message: string,
  code?: RefusalCode | 'OTHER',
  more?: RefusalDetails,
): Refused {
  return new Refused(message, code, more);
}

const CODES: ReadonlySet<unknown> = new Set([...REFUSAL_CODES, 'OTHER']);

/** Converts a refusal for the engine. Throws if an untyped program made an invalid one. */
export function refusalOf({ code, message, details, otherCode }: Refused): Refusal {
  if (!CODES.has(code)) throw new TypeError(`a refusal has no code '${code}'`);
  const json = details === undefined ? undefined : (JSON.stringify(details) as string | undefined);
  return {
    kind: 'refusal',
    code,
    message: message.toWellFormed(),
    ...(json === undefined ? {} : { details: json }),
    ...(otherCode === undefined ? {} : { otherCode }),
  };
}

/** Converts a refusal of the engine. `details` that are not JSON are left out. */
export function refusedBy({ code, message, details, otherCode }: Refusal): Refused {
  return new Refused(message, code, {
    details: details === undefined ? undefined : valueOf(details),
    ...(otherCode === undefined ? {} : { otherCode }),
  });
}

function valueOf(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
