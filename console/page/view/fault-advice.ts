// FaultAdvice: the meaning of a fault's or a refusal's code, as a word and as sentences that say what to do. The
// functions are pure.
import type { SourceLocation, SpanFault } from '@svc/contract';

interface Advice {
  readonly word: string;
  readonly advice: string;
}

const ADVICE: Readonly<Record<string, Advice>> = {
  trap: {
    word: 'Trap',
    advice:
      'The module stopped itself, by an assertion, an index out of bounds, a division by zero or an abort. Read its message and the source location. The instance was thrown away; the next call gets a fresh one.',
  },
  stack: {
    word: 'Stack used up',
    advice: 'Calls are nested too deep. Look for a recursion that does not end.',
  },
  memory: {
    word: 'Memory used up',
    advice:
      'The module asked for more memory than it may have. Keep less in the state, or raise the limit named above.',
  },
  fuel: {
    word: 'Fuel used up',
    advice:
      'The handler computed longer than it may. Look for a loop that does not end, or raise the limit named above.',
  },
  time: {
    word: 'Time used up',
    advice: 'The handler waited longer than it may. Look at what it calls, in the trace.',
  },
  value: {
    word: 'Invalid value',
    advice:
      'What the module answered does not fit what it declares. Build it with the SDK of the same version, and look at the type of the answer.',
  },
  bug: {
    word: 'Runtime bug',
    advice: 'This should not be possible. Please report it with the error id and the log.',
  },
};

const REFUSALS: Readonly<Record<string, string>> = {
  BAD_REQUEST: 'The input does not fit, whatever the state is: the message says what to change.',
  UNAUTHENTICATED: 'The request does not say who sends it, or not in a way that is accepted.',
  FORBIDDEN: 'This caller may not do it.',
  NOT_FOUND: 'What the request asks for does not exist.',
  CONFLICT: 'The present state does not allow it: look at the entity and its history.',
  UNPROCESSABLE: 'The input has the right form, but cannot be used: the message says why.',
  TOO_MANY_REQUESTS: 'There were too many requests: try again later.',
};

/** Returns the meaning of a refusal's code for the caller; a module explains its own codes itself. */
export function refusalAdvice(code: string): string {
  if (code.startsWith('SVC_')) return errorPage(code);
  return Object.hasOwn(REFUSALS, code) ? REFUSALS[code]! : 'The message says why.';
}

function errorPage(code: string): string {
  return `docs/errors/${code}.md says what it means and what to do.`;
}

export function faultAdvice({ code, limit }: SpanFault, isRefusal: boolean): Advice {
  const known = Object.hasOwn(ADVICE, code) ? ADVICE[code] : undefined;
  if (known !== undefined) return known;
  if (isRefusal)
    return {
      word: codeWord(code),
      advice: `A refusal is an answer, not a fault. ${refusalAdvice(code)}`,
    };
  const advice =
    limit === null
      ? errorPage(code)
      : 'A limit was met. It is a setting: raise it where that is right.';
  return { word: codeWord(code), advice };
}

/** Returns a code in words: 'BAD_REQUEST' → 'Bad request'. Codes of docs/errors stay as they are. */
export function codeWord(code: string): string {
  if (code.startsWith('SVC_')) return code;
  const words = code.toLowerCase().replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Returns 'assembly/cart.ts:31:5'; without the column if it is not known. */
export function locationText({ file, line, column }: SourceLocation): string {
  return column === null ? `${file}:${line}` : `${file}:${line}:${column}`;
}

/** Returns the module's fault in the details of a problem; undefined if there is none. */
export function faultIn(details: unknown): SpanFault | undefined {
  const { code, reason, places: locations } = (details ?? {}) as Partial<SpanFault>;
  const isFault =
    typeof code === 'string' && typeof reason === 'string' && Array.isArray(locations);
  return isFault ? (details as SpanFault) : undefined;
}
