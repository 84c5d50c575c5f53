// RequestStreams: bytes that a client may send on one connection: some requests by the grammar, with what servers are known to
// read differently, or cases of the corpus; most of them then changed in a few places.
import { bytesOf, corpusCases } from '../../http1/corpus.ts';
import type { Random } from '../../random.ts';
import { havoc } from '../fuzz-target.ts';

const BYTES_MAX = 4000;
const CORPUS = ['request-lines.json', 'targets.json', 'hosts.json', 'fields.json', 'framing.json']
  .concat('chunks.json')
  .flatMap(corpusCases)
  .map(({ in: input }) => bytesOf(input))
  .filter(({ length }) => length > 0 && length < BYTES_MAX / 2);

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'];
const RARE_METHODS = [
  'TRACE',
  'PROPFIND',
  'QUERY',
  'M-SEARCH',
  'BREW',
  'get',
  'x~unknown',
  'A_B',
].concat('PRI', 'GETS', "!#$%&'*+-.^`|~9", 'M'.repeat(40));
const TARGET_PARTS = ['/', '/a', '/b.php', '//', '/.', '/..', '/%2F', '%2e%2e', '/%00', '%zz', '%']
  .concat(';x=y', '?', '?a=b&c', '&', '\\', '"', '<', '|', '^', '`', '{}', '~', ':', '@', '*', "'")
  .concat('%0d%0a', '%20', '/index.html', '!$()+,', '%C3%A4', '%ff', '=', '[', 'x'.repeat(300));
const TARGETS = ['/', '/a', '/?q', 'http://a/x?y', 'HTTP://a:80', 'https://a/', '//a/b'];
const HOSTS = ['a', 'a:80', 'A.example.com.', '[::1]:8080', '127.0.0.1', 'b-c'];
const FIELD_NAMES = [
  'Accept',
  'X-A',
  'Connection',
  'connection',
  'Cookie',
  'Expect',
  'TE',
  'Trailer',
]
  .concat('Upgrade', 'X-Svc-Caller', 'x_svc_caller', 'X.Svc.Caller', 'Forwarded', 'Keep-Alive')
  .concat('X-Forwarded-For', 'X-Forwarded-Host', 'Content-Type', 'Range', 'If-None-Match', 'Via')
  .concat('Proxy-Connection', 'Content-Encoding', 'Max-Forwards', 'X-HTTP-Method-Override')
  .concat('HTTP2-Settings', "!#$%&'*+-.^_`|~", 'From', 'Status', 'Content-Range', 'Date');
const FIELD_VALUES = [
  '',
  'a',
  'close',
  'keep-alive',
  'chunked',
  '5',
  '0',
  '100-continue',
  'h2c',
  'local',
]
  .concat(
    'a, b',
    ' \t a \t ',
    'trailers',
    '"q',
    '\u00ff\u0080',
    'gzip',
    'Content-Length',
    'websocket',
  )
  .concat('bytes=0-1', 'close, Host', 'a: b', 'application/x-www-form-urlencoded', 'x'.repeat(500))
  .concat('multipart/form-data; boundary=b', 'text/plain\u00a0', 'X-A', 'HTTP/1.1', 'timeout=0');
const EXTENSIONS = [';a', ';a=b', '; a="b;\\"c"', ';a ;b', ';c="\u00ff"'];

/** What the proxy has to refuse, beside `SPLICES`. */
const WILD_METHODS = ['CONNECT', 'G T', ''];
const WILD_TARGETS = ['*', 'a:80', '#', '/#a', '/\u00e4', '', 'ftp://a/', 'http://a@b/', '/a b'];
const WILD_HOSTS = ['', 'a b', 'a@b', 'a,b', 'a/', 'a:99999', '[::1', 'a\r\nHost: b'];
const WILD_NAMES = [
  'Host',
  'Content-Length',
  'Transfer-Encoding',
  'Content_Length',
  'A B',
  'A ',
  '',
].concat('Transfer_Encoding', ' A', 'A(', 'content-length');
const WILD_SIZES = [
  (size: number) => `+${size.toString(16)}`,
  (size: number) => `0x${size.toString(16)}`,
  (size: number) => (size + 1).toString(16),
  (size: number) => `${size.toString(16)} `,
  (size: number) => `${'0'.repeat(17)}${size.toString(16)}`,
];
const WILD_EXTENSIONS = [' ;a', ';', ';a=', '\t', ';a="b', ';\n'];
/** Texts that are put somewhere in a stream. */
const SPLICES = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  ' ',
  '\t',
  ':',
  '\r\n\r\n',
  '\r\n ',
  'HTTP/1.1',
  '\u000b',
]
  .concat('Content-Length: 3\r\n', 'Transfer-Encoding: chunked\r\n', 'Connection: close\r\n', '0')
  .concat('Transfer-Encoding : chunked\r\n', 'Host: b\r\n', '0\r\n\r\n', 'GET /x HTTP/1.1\r\n', ',')
  .concat('Expect: 100-continue\r\n', '\u0085', '\u00a0', '-', '#', 'chunked');

export function randomStream(random: Random): Buffer {
  const isWild = random.chance(40);
  const whole = random.chance(80) ? generatedStream(random, isWild) : corpusStream(random);
  const changed = isWild && random.chance(60) ? spliced(random, whole) : whole;
  const bytes = isWild && random.chance(30) ? havoc(random, changed) : changed;
  return Buffer.from(bytes.subarray(0, BYTES_MAX));
}

function corpusStream(random: Random): Buffer {
  const count = 1 + random.below(2);
  return Buffer.concat(Array.from({ length: count }, () => random.pick(CORPUS)));
}

function generatedStream(random: Random, isWild: boolean): Buffer {
  const stream = new StreamText(random, isWild);
  const requests = Array.from({ length: 1 + random.below(4) }, () => stream.request());
  return Buffer.from(requests.join(''), 'latin1');
}

/** Writes requests; a wild one has now and then what has to be refused. */
class StreamText {
  readonly #random: Random;
  readonly #isWild: boolean;

  constructor(random: Random, isWild: boolean) {
    this.#random = random;
    this.#isWild = isWild;
  }

  request(): string {
    const random = this.#random;
    const method = this.#pick(random.chance(85) ? METHODS : RARE_METHODS, WILD_METHODS);
    const version = random.chance(95) ? '1.1' : this.#pick(['1.0'], ['1.2', '2.0', '1', '1.10']);
    const host = this.#pick(random.chance(90) ? ['a'] : HOSTS, WILD_HOSTS);
    const fields = Array.from({ length: random.below(4) }, () => this.#fieldLine());
    const { fields: framing, body } = this.#framedBody();
    const lines = shuffled(random, [`Host: ${host}`, ...framing, ...fields]);
    return [`${method} ${this.#target()} HTTP/${version}`, ...lines, '', body].join('\r\n');
  }

  #pick<T>(tame: readonly T[], wild: readonly T[]): T {
    return this.#random.pick(this.#isWild && this.#random.chance(8) ? wild : tame);
  }

  #target(): string {
    const random = this.#random;
    if (random.chance(30)) return this.#pick(TARGETS, WILD_TARGETS);
    const parts = Array.from({ length: random.below(5) }, () => random.pick(TARGET_PARTS));
    return `/${parts.join('')}`;
  }

  #fieldLine(): string {
    const random = this.#random;
    // Most fields are ones that no server minds.
    if (random.chance(50)) return `X-${random.below(3)}: ${random.below(100)}`;
    const name = this.#pick(FIELD_NAMES, WILD_NAMES);
    return `${name}:${random.pick(['', ' ', '\t'])}${random.pick(FIELD_VALUES)}`;
  }

  #framedBody(): { readonly fields: readonly string[]; readonly body: string } {
    switch (this.#random.below(3)) {
      case 0:
        return { fields: [], body: '' };
      case 1: {
        const body = this.#body();
        return { fields: [`Content-Length: ${body.length}`], body };
      }
      default:
        return { fields: ['Transfer-Encoding: chunked'], body: this.#chunkedBody() };
    }
  }

  /** A body that looks like a request, or any bytes. */
  #body(): string {
    const random = this.#random;
    if (random.chance(20)) return 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n';
    const length = random.below(random.chance(90) ? 20 : 1000);
    return String.fromCharCode(...Array.from({ length }, () => random.below(256)));
  }

  #chunkedBody(): string {
    const random = this.#random;
    const chunks = Array.from({ length: random.below(4) }, () => {
      const body = this.#body();
      if (body === '') return '';
      const size = this.#pick([(bytes: number) => bytes.toString(16)], WILD_SIZES)(body.length);
      const extension = random.chance(80) ? '' : this.#pick(EXTENSIONS, WILD_EXTENSIONS);
      return `${size}${extension}\r\n${body}\r\n`;
    });
    const last = this.#pick(['0', '0', '00', '0;a=b'], ['-0', '0x0', '0 ', '']);
    const trailers = random.chance(80) ? '' : `${this.#fieldLine()}\r\n`;
    return `${chunks.join('')}${last}\r\n${trailers}\r\n`;
  }
}

function spliced(random: Random, whole: Buffer): Buffer {
  let bytes = whole;
  for (let changes = random.below(2); changes >= 0; changes--) {
    const at = random.below(bytes.length + 1);
    const taken = random.chance(50) ? 0 : random.below(4);
    const text = Buffer.from(random.pick(SPLICES), 'latin1');
    bytes = Buffer.concat([bytes.subarray(0, at), text, bytes.subarray(at + taken)]);
  }
  return bytes;
}

function shuffled<T>(random: Random, values: readonly T[]): T[] {
  const left = [...values];
  return values.map(() => left.splice(random.below(left.length), 1)[0]!);
}
