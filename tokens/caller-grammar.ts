// CallerGrammar: how the caller of a development token may be named, and its roles and scopes.

/** A role or a scope, as rules of @bearer have them. */
export const GRANT = /^[!#-[\]-~]{1,255}$/;
export const SUBJECT = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,255}$/u;
