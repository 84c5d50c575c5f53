// Code and Refusal: the reason why a request was refused on purpose.

export enum Code {
  /** 400: the input is invalid, whatever the state is. */
  BAD_REQUEST = 0,
  /** 401: the caller is not identified. */
  UNAUTHENTICATED = 1,
  /** 403: the caller may not do this. */
  FORBIDDEN = 2,
  /** 404: the requested thing does not exist. */
  NOT_FOUND = 3,
  /** 409: the current state does not allow it. */
  CONFLICT = 4,
  /** 422: the request is well-formed, but not acceptable. */
  UNPROCESSABLE = 5,
  /** 429: the caller should try again later. */
  TOO_MANY_REQUESTS = 6,
  /** A code in `otherCode`: the module's own, for which callers receive 500, or one of the runtime's codes below. */
  OTHER = 7,
}

/**
 * Codes of the runtime, with `Code.OTHER`, for calls without a reply: nothing was executed (503), it is unknown
 * whether the call was executed (504), the call failed (500).
 */
export const UNAVAILABLE = "UNAVAILABLE";
export const TIMED_OUT = "TIMED_OUT";
export const INTERNAL = "INTERNAL";

export class Refusal {
  /** The module's own code or one of the runtime's, with `Code.OTHER`; otherwise empty. */
  otherCode: string = "";
  /** Details for programs, as JSON text. */
  details: string | null = null;

  constructor(
    public code: Code,
    public message: string,
  ) {}

  static other(otherCode: string, message: string): Refusal {
    const refusal = new Refusal(Code.OTHER, message);
    refusal.otherCode = otherCode;
    return refusal;
  }
}
