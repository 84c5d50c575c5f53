// The codes with which a request is refused or fails, in the words of HTTP bodies and component
// calls. Which status each stands for is decided at the HTTP edge, in one file of the host.

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
