// NameServer: a DNS server on loopback that answers SRV, A and AAAA questions over UDP from a table, or fails on purpose.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';

export interface Zone {
  /** Name → records of its instances. */
  readonly srv: Readonly<
    Record<
      string,
      readonly (readonly [priority: number, weight: number, port: number, name: string])[]
    >
  >;
  /** Name → IPv4 addresses. */
  readonly a: Readonly<Record<string, readonly string[]>>;
  /** Name → IPv6 addresses, in eight groups. Absent: none. */
  readonly aaaa?: Readonly<Record<string, readonly string[]>>;
  readonly ttl: number;
}

/** `silent`: questions are not answered. `failing`: each answer is SERVFAIL. */
export type Fault = 'none' | 'silent' | 'failing';

const TYPE_A = 1;
const TYPE_AAAA = 28;
const TYPE_SRV = 33;
const NAME_ERROR = 3;
const SERVER_FAILURE = 2;

export class NameServer implements AsyncDisposable {
  readonly #socket = createSocket('udp4');
  zone: Zone;
  fault: Fault = 'none';
  /** Names of all questions. */
  readonly asked: string[] = [];

  private constructor(zone: Zone) {
    this.zone = zone;
    this.#socket.on('message', (question, { port, address }) => {
      const reply = this.#reply(question);
      if (reply !== undefined) this.#socket.send(reply, port, address);
    });
  }

  static async start(zone: Zone): Promise<NameServer> {
    const server = new NameServer(zone);
    server.#socket.bind(0, '127.0.0.1');
    await once(server.#socket, 'listening');
    return server;
  }

  /** `127.0.0.1:PORT` */
  get address(): string {
    return `127.0.0.1:${this.#socket.address().port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.close();
    await once(this.#socket, 'close');
  }

  #reply(question: Buffer): Buffer | undefined {
    const { name, end } = readName(question);
    const type = question.readUInt16BE(end);
    this.asked.push(name);
    if (this.fault === 'silent') return undefined;
    const records = this.fault === 'failing' ? [] : this.#records(name, type);
    const { a, aaaa = {}, srv } = this.zone;
    const isKnown = [a, aaaa, srv].some((named) => Object.hasOwn(named, name));
    const code = this.fault === 'failing' ? SERVER_FAILURE : isKnown ? 0 : NAME_ERROR;
    const head = Buffer.alloc(12);
    head.writeUInt16BE(question.readUInt16BE(0), 0);
    head.writeUInt16BE(0x8180 | code, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(records.length, 6);
    return Buffer.concat([head, question.subarray(12, end + 4), ...records]);
  }

  #records(name: string, type: number): Buffer[] {
    if (type === TYPE_A)
      return (this.zone.a[name] ?? []).map((address) =>
        this.#record(type, Buffer.from(address.split('.').map(Number))),
      );
    if (type === TYPE_AAAA)
      return (this.zone.aaaa?.[name] ?? []).map((address) =>
        this.#record(
          type,
          Buffer.from(
            address
              .split(':')
              .map((group) => group.padStart(4, '0'))
              .join(''),
            'hex',
          ),
        ),
      );
    if (type !== TYPE_SRV) return [];
    return (this.zone.srv[name] ?? []).map(([priority, weight, port, target]) => {
      const numbers = Buffer.alloc(6);
      for (const [index, number] of [priority, weight, port].entries())
        numbers.writeUInt16BE(number, 2 * index);
      return this.#record(type, Buffer.concat([numbers, writeName(target)]));
    });
  }

  /** A record of the name in the question. */
  #record(type: number, data: Buffer): Buffer {
    const head = Buffer.alloc(12);
    head.writeUInt16BE(0xc00c, 0);
    head.writeUInt16BE(type, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt32BE(this.zone.ttl, 6);
    head.writeUInt16BE(data.length, 10);
    return Buffer.concat([head, data]);
  }
}

function readName(question: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = question[at]!; length > 0; length = question[at]!) {
    labels.push(question.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 };
}

function writeName(name: string): Buffer {
  const labels = name
    .split('.')
    .map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`));
  return Buffer.concat([...labels, Buffer.from([0])]);
}
