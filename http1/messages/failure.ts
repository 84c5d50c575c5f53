// Why a message is refused: a closed list of codes, each with the status that a server answers and a sentence that
// contains no byte of the peer. A client makes 502 of every failure.

export type FailureStatus = 400 | 408 | 413 | 431 | 501 | 505;

const FAILURES = {
  'bare-carriage-return': [400, 'A carriage return is not followed by a line feed.'],
  'bare-line-feed': [400, 'A line ends with a line feed alone.'],
  'control-character': [400, 'The head contains a control character.'],
  'empty-lines': [400, 'More than one empty line precedes the request.'],
  'bad-request-line': [400, 'The request line is not METHOD SP TARGET SP VERSION.'],
  'bad-target': [400, 'The request target is not a valid path, absolute URI or asterisk.'],
  'bad-version': [400, 'The HTTP version is malformed.'],
  'unsupported-version': [505, 'The HTTP version is neither 1.0 nor 1.1.'],
  'bad-status-line': [400, 'The status line is not VERSION SP STATUS SP REASON.'],
  'connect-refused': [501, 'The method CONNECT is not supported.'],
  'bad-field-name': [400, 'The name of a field is empty or has a character that is not allowed.'],
  'missing-colon': [400, 'A field line has no colon.'],
  'space-before-colon': [400, 'White space precedes the colon of a field.'],
  'folded-line': [400, 'A field line begins with white space.'],
  'head-too-large': [431, 'The head is larger than the limit.'],
  'too-many-fields': [431, 'The message has more fields than the limit.'],
  'missing-host': [400, 'The request has no Host field.'],
  'repeated-host': [400, 'The request has more than one Host field.'],
  'bad-host': [400, 'The Host field is not a host name with an optional port.'],
  'bad-content-length': [400, 'The Content-Length field is not a number in decimal digits.'],
  'repeated-content-length': [400, 'The message has more than one Content-Length field.'],
  'bad-transfer-encoding': [400, 'The Transfer-Encoding field is malformed.'],
  'repeated-transfer-encoding': [400, 'The message has more than one Transfer-Encoding field.'],
  'unsupported-transfer-coding': [501, 'The only supported transfer coding is chunked.'],
  'transfer-encoding-in-1.0': [400, 'A message of HTTP/1.0 has a Transfer-Encoding field.'],
  'length-and-chunked': [400, 'The message has both Content-Length and Transfer-Encoding.'],
  'ambiguous-framing-field': [
    400,
    'A field name equals Content-Length or Transfer-Encoding but for its hyphen.',
  ],
  'bad-chunk-size': [400, 'The size of a chunk is not a hexadecimal number.'],
  'chunk-too-large': [400, 'The size of a chunk is larger than can be counted.'],
  'bad-chunk-extension': [400, 'A chunk extension is malformed.'],
  'chunk-line-too-long': [400, 'A chunk size line is longer than the limit.'],
  'chunk-excess': [400, 'The chunks of the body are too small for their framing.'],
  'bad-chunk-end': [400, 'The data of a chunk is not followed by the end of a line.'],
  'trailers-too-large': [431, 'The trailers are larger than the limit.'],
  'forbidden-trailer': [400, 'A trailer would change the framing or the routing of its message.'],
  'incomplete-message': [400, 'The connection ended inside a message.'],
  unsolicited: [400, 'The peer sent bytes to which no request belongs.'],
  'switching-protocols': [400, 'The response switches protocols, which was not asked for.'],
  'informational-with-body': [400, 'An informational response announces a body.'],
  'too-many-informational': [400, 'More informational responses than the limit came.'],
  'head-timeout': [408, 'The head did not arrive in time.'],
  'body-timeout': [408, 'The body stopped arriving.'],
  'body-too-large': [413, 'The body is larger than the limit.'],
} as const satisfies Readonly<Record<string, readonly [FailureStatus, string]>>;

export type FailureCode = keyof typeof FAILURES;

export interface MessageFailure {
  readonly code: FailureCode;
  /** Status that a server answers. */
  readonly status: FailureStatus;
  /** A sentence for people. */
  readonly reason: string;
}

export const FAILURE_CODES = Object.keys(FAILURES) as readonly FailureCode[];

export function failure(code: FailureCode): MessageFailure {
  const [status, reason] = FAILURES[code];
  return { code, status, reason };
}
