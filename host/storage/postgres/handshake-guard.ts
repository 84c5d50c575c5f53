// HandshakeGuard checks the messages of a server until it is ready for the first statement. Until then, nobody knows whether the server
// is PostgreSQL; the parser of `pg` never ends at some messages that are not, throws at others, and stores what has no end.
//
// Invariant: only whole messages that are well-formed are passed on.
import { DatabaseFailure } from './database-failure.ts';

/** Bytes of all messages of a handshake: parameters and notices of a server are some hundred. */
const BYTES_MAX = 65_536;
const HEADER_BYTES = 5;
const AUTHENTICATION = 'R';
const READY = 'Z';
/** Codes of authentication requests, with the bytes of their messages; undefined: any number. */
const AUTHENTICATIONS: ReadonlyMap<number, number | undefined> = new Map([
  [0, 8],
  [3, 8],
  [5, 12],
  [10, undefined],
  [11, undefined],
  [12, undefined],
]);
const AUTHENTICATED = 0;
const MECHANISMS = 10;

export class HandshakeGuard {
  #waiting = Buffer.alloc(0);
  #bytes = 0;
  #isAuthenticated = false;
  #isDone = false;

  /** Whether the server was ready, so that nothing is checked any more. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** Returns the bytes that may be passed on. Throws DatabaseFailure. */
  pass(chunk: Buffer): Buffer {
    if (this.#isDone) return chunk;
    this.#bytes += chunk.length;
    if (this.#bytes > BYTES_MAX) throw foreign();
    const bytes = Buffer.concat([this.#waiting, chunk]);
    let at = 0;
    while (!this.#isDone && bytes.length - at >= HEADER_BYTES) {
      const length = bytes.readUInt32BE(at + 1);
      const end = at + 1 + length;
      if (length < HEADER_BYTES - 1 || length > BYTES_MAX) throw foreign();
      if (end > bytes.length) break;
      this.#check(String.fromCharCode(bytes[at]!), bytes.subarray(at + HEADER_BYTES, end));
      at = end;
    }
    // The length of what is no message may be one that fits, so that the code is checked before the rest has come.
    if (at < bytes.length && !this.#isDone && !'RENSKZ'.includes(String.fromCharCode(bytes[at]!)))
      throw foreign();
    const passed = this.#isDone ? bytes : bytes.subarray(0, at);
    this.#waiting = this.#isDone ? Buffer.alloc(0) : bytes.subarray(at);
    return passed;
  }

  #check(code: string, body: Buffer): void {
    switch (code) {
      case AUTHENTICATION:
        this.#checkAuthentication(body);
        return;
      case 'E':
      case 'N':
        checkFields(body);
        return;
      case 'S':
        if (textEnds(body).length !== 2 || body.at(-1) !== 0) throw foreign();
        return;
      case 'K':
        if (body.length < 8) throw foreign();
        return;
      case READY:
        if (body.length !== 1 || !this.#isAuthenticated) throw foreign();
        this.#isDone = true;
        return;
      default:
        throw foreign();
    }
  }

  #checkAuthentication(body: Buffer): void {
    if (body.length < 4) throw foreign();
    const code = body.readUInt32BE(0);
    if (!AUTHENTICATIONS.has(code))
      throw new DatabaseFailure('the server asks for an authentication that svc does not know', {
        outcome: 'not-done',
        sqlState: '28000',
      });
    const length = AUTHENTICATIONS.get(code);
    if (length !== undefined && body.length + 4 !== length) throw foreign();
    // A list of names, whose last one is empty.
    if (code === MECHANISMS && (body.at(-1) !== 0 || body.at(-2) !== 0)) throw foreign();
    if (code === AUTHENTICATED) this.#isAuthenticated = true;
  }
}

/** Fields of an error: a letter and a text each, and a zero at the end. */
function checkFields(body: Buffer): void {
  let at = 0;
  while (at < body.length && body[at] !== 0) {
    const end = body.indexOf(0, at + 1);
    if (end < 0) throw foreign();
    at = end + 1;
  }
  if (at !== body.length - 1) throw foreign();
}

/** Positions of the zeros that end texts. */
function textEnds(body: Buffer): readonly number[] {
  return [...body.keys()].filter((at) => body[at] === 0);
}

function foreign(): DatabaseFailure {
  return new DatabaseFailure('what answers there is not PostgreSQL', {
    outcome: 'not-done',
    reason: 'foreign',
  });
}
