// Code and Refusal: why a request was refused on purpose.

export enum Code {
  /** 400: the input makes no sense, whatever the state. */
  BAD_REQUEST = 0,
  /** 401: the caller did not say who it is. */
  UNAUTHENTICATED = 1,
  /** 403: the caller may not do this. */
  FORBIDDEN = 2,
  /** 404: the thing asked for does not exist. */
  NOT_FOUND = 3,
  /** 409: the state does not allow it. */
  CONFLICT = 4,
  /** 422: well-formed, and still not acceptable. */
  UNPROCESSABLE = 5,
  /** 429: the caller should come back later. */
  TOO_MANY_REQUESTS = 6,
  /** 500 for whoever does not know better: a word of the module's own, in `otherCode`. */
  OTHER = 7,
}

/**
 * With `Code.OTHER`, the words of the runtime for calls that gave no reply: nothing was done
 * (503), whether it was done is unknown (504), a fault on the way (500).
 */
export const UNAVAILABLE = "UNAVAILABLE";
export const TIMED_OUT = "TIMED_OUT";
export const INTERNAL = "INTERNAL";

export class Refusal {
  /** The module's own word for the reason, with `Code.OTHER`; else empty. */
  otherCode: string = "";
  /** JSON text for the program that reads it. */
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
