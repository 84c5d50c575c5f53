// The names of the headers by which the platform's proxy, a process and a service speak to each other.

/** Prefix, in lower case, of the names of all headers that only the platform sends. */
export const PLATFORM_HEADER_PREFIX = 'x-svc-';
/** The caller: `internet`, `service <project>/<service>` or `local`. */
export const CALLER_HEADER = 'X-Svc-Caller';
/** `proxy` in each response that the proxy made itself, `gateway` in those of the gateway. */
export const ANSWERED_BY_HEADER = 'X-Svc-Answered-By';
export const ANSWERED_BY_PROXY = 'proxy';
export const ANSWERED_BY_GATEWAY = 'gateway';
/** Scheme by which the request was addressed. */
export const FORWARDED_PROTO_HEADER = 'X-Forwarded-Proto';
/** Authority to which the request was addressed, with its port unless that is the scheme's own. */
export const FORWARDED_HOST_HEADER = 'X-Forwarded-Host';
/** Port to which the request was addressed. */
export const FORWARDED_PORT_HEADER = 'X-Forwarded-Port';
/** Addresses of the client and of the proxies on the way; the last one is the gateway's. */
export const FORWARDED_FOR_HEADER = 'X-Forwarded-For';
