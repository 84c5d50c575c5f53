// The codes with which a request is refused or fails, as HTTP bodies and component calls contain them. One
// file of the host, at the HTTP edge, maps each to a status.

/** Codes with which a module may refuse. */
export const REFUSAL_CODES = [
  'BAD_REQUEST',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'NOT_FOUND',
  'CONFLICT',
  'UNPROCESSABLE',
  'TOO_MANY_REQUESTS',
] as const;
export type RefusalCode = (typeof REFUSAL_CODES)[number];
