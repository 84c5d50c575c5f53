// The codes of refusals. The host maps each code to an HTTP status in one file (host/http/answers.ts).

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
