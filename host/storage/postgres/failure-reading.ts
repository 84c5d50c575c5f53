// FailureReading makes DatabaseFailures of errors of `pg`, of sockets and of TLS.
//
// Invariant: of an error of the server only those parts are used that quote no row and no value: its SQLSTATE, names of tables and
// constraints, and the texts of classes that are about the server.
import type { DatabaseError } from 'pg';
import { DatabaseFailure } from './database-failure.ts';

/** Longer texts of a server are cut off. */
const TEXT_MAX = 300;
/** Classes of SQLSTATE whose texts hold neither a value nor a user: transactions, rights and names, limits, operator, system. */
const PLAIN_CLASSES = new Set(['25', '40', '42', '54', '55', '57', '58']);
/** Texts for errors whose own text names the user. */
const OWN_TEXTS: Readonly<Record<string, string>> = {
  '28000': 'this user may not connect',
  '28P01': 'user or password is wrong',
  '3D000': 'there is no such database',
  '53100': 'the disk is full',
  '53200': 'there is no memory left',
  '53300': 'there are too many connections',
};
/** Classes after which it is unknown whether the statement was carried out: connections, and an operator's intervention. */
const CONNECTION_EXCEPTION = '08';
const STATEMENT_COMPLETION_UNKNOWN = '40003';
const TLS_CODES =
  /^(?:CERT_|ERR_TLS_|ERR_SSL_|ERR_OSSL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|PATH_LENGTH|EPROTO)/;

/** An answer of the server other than success, which `pg` gives as an error. */
export function isAnswer(error: unknown): error is DatabaseError {
  return (
    error instanceof Error &&
    'severity' in error &&
    typeof (error as DatabaseError).code === 'string'
  );
}

/** The failure of a statement that was sent. */
export function statementFailure(error: unknown): DatabaseFailure {
  if (error instanceof DatabaseFailure) return error;
  if (!isAnswer(error)) return lostFailure(error, 'unknown');
  return answeredFailure(error, isEndOfSession(error) ? 'unknown' : 'not-done');
}

/** The failure of a connection that did not come about. */
export function connectFailure(error: unknown): DatabaseFailure {
  if (error instanceof DatabaseFailure) return error;
  if (isAnswer(error)) return answeredFailure(error, 'not-done');
  const { code = '', message } = error as NodeJS.ErrnoException;
  const reason = TLS_CODES.test(code) ? 'tls' : 'unreachable';
  return new DatabaseFailure(connectText(code, message, reason), { outcome: 'not-done', reason });
}

/** The failure of statements when the connection has ended. */
export function lostFailure(error: unknown, outcome: 'not-done' | 'unknown'): DatabaseFailure {
  if (isAnswer(error)) {
    // The server has said why it ends the connection.
    const { message, sqlState } = answeredFailure(error, outcome);
    return new DatabaseFailure(message, { outcome, sqlState, reason: 'lost' });
  }
  const { code, message } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  const text = code ?? message;
  return new DatabaseFailure(
    `the connection was lost${text === undefined ? '' : ` (${oneLine(text)})`}`,
    { outcome, reason: 'lost' },
  );
}

/** The session ends with the answer, and the server may have committed before. */
function isEndOfSession({ severity, code = '' }: DatabaseError): boolean {
  return (
    severity === 'FATAL' ||
    severity === 'PANIC' ||
    code.startsWith(CONNECTION_EXCEPTION) ||
    code === STATEMENT_COMPLETION_UNKNOWN
  );
}

function answeredFailure(error: DatabaseError, outcome: 'not-done' | 'unknown'): DatabaseFailure {
  const sqlState = error.code!;
  const names = [
    ...(error.table === undefined ? [] : [`table ${error.table}`]),
    ...(error.constraint === undefined ? [] : [`constraint ${error.constraint}`]),
  ];
  const isPlain = PLAIN_CLASSES.has(sqlState.slice(0, 2));
  const text = OWN_TEXTS[sqlState] ?? (isPlain ? oneLine(error.message) : names.join(', '));
  const message = `the server answered ${sqlState}${text === '' ? '' : ` (${text})`}`;
  return new DatabaseFailure(message, { outcome, sqlState, reason: 'answered' });
}

function connectText(code: string, message: string, reason: 'tls' | 'unreachable'): string {
  switch (code) {
    case 'ECONNREFUSED':
      return 'nothing listens there (ECONNREFUSED)';
    case 'ENOENT':
      return 'there is no such socket (ENOENT)';
    case 'ENOTFOUND':
      return 'the name is unknown (ENOTFOUND)';
    case 'EAI_AGAIN':
      return 'the name could not be looked up (EAI_AGAIN)';
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return 'the certificate of the server is for another host name (ERR_TLS_CERT_ALTNAME_INVALID)';
    case '':
      return `the connection ended before it was made (${oneLine(message)})`;
    default:
      return reason === 'tls'
        ? `the certificate of the server is not trusted (${code})`
        : `the connection could not be made (${code})`;
  }
}

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > TEXT_MAX ? `${line.slice(0, TEXT_MAX)}…` : line;
}
