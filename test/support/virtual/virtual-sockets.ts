// VirtualSockets are the sockets and servers of processes in a VirtualNetwork, in place of those of `node:net`. A chunk may arrive in two
// parts. The system of a process that is killed ends its connections; one whose power is cut says nothing to the other side.
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { Lane, VirtualNetwork } from './virtual-network.ts';
import type { VirtualProcess } from './virtual-process.ts';

/** One of so many chunks arrives in two parts. */
const PART_EVERY = 50;

const NETWORKS = new WeakMap<VirtualProcess, VirtualNetwork>();
const SERVERS = new WeakMap<VirtualProcess, Map<number, VirtualServer>>();

/** Lets the process use the sockets of a network. */
export function joinNetwork(process: VirtualProcess, network: VirtualNetwork): void {
  NETWORKS.set(process, network);
  SERVERS.set(process, new Map());
  network.add(process);
}

class VirtualSocket extends EventEmitter {
  readonly process: VirtualProcess;
  readonly #network: VirtualNetwork;
  readonly #lane: Lane = { arrivesMs: 0 };
  #other: VirtualSocket | undefined;
  #isDestroyed = false;
  /** What was written before the connection was made. */
  #early: Uint8Array[] = [];

  constructor(process: VirtualProcess) {
    super();
    this.process = process;
    this.#network = NETWORKS.get(process)!;
    process.onDeath(() => {
      if (!this.#isDestroyed) this.#reset();
    });
  }

  readonly writableLength = 0;

  get remoteAddress(): string {
    return this.#other?.process.name ?? '';
  }

  setNoDelay(): this {
    return this;
  }

  /** Connects to a server of another process. */
  connects(to: VirtualProcess | undefined, port: number): void {
    if (to === undefined) return this.process.turn(() => this.fails('ECONNREFUSED'));
    this.#network.send(this.process, to, this.#lane, () => {
      const server = SERVERS.get(to)!.get(port);
      if (server === undefined) return this.#answers(to, () => this.fails('ECONNREFUSED'));
      const other = new VirtualSocket(to);
      other.#other = this;
      server.accept(other);
      this.#answers(to, () => this.#connected(other));
    });
    // The system of a process that has ended refuses at once.
    if (to.isDead && !this.#network.isHeld(this.process.name, to.name))
      this.process.turn(() => this.fails('ECONNREFUSED'));
  }

  write(bytes: Uint8Array): boolean {
    if (this.#isDestroyed) return false;
    if (this.#other === undefined) this.#early.push(bytes);
    else this.#send(this.#other, bytes);
    return true;
  }

  destroy(): this {
    if (this.#isDestroyed) return this;
    this.#reset();
    this.process.turn(() => this.emit('close'));
    return this;
  }

  destroySoon(): void {
    this.destroy();
  }

  end(): this {
    return this.destroy();
  }

  fails(code: string): void {
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    this.emit('error', Object.assign(new Error(code), { code }));
    this.emit('close');
  }

  #answers(from: VirtualProcess, arrives: () => void): void {
    this.#network.send(from, this.process, { arrivesMs: 0 }, arrives);
  }

  #connected(other: VirtualSocket): void {
    if (this.#isDestroyed) return other.#ended();
    this.#other = other;
    this.emit('connect');
    for (const bytes of this.#early) this.#send(other, bytes);
    this.#early = [];
  }

  #send(other: VirtualSocket, bytes: Uint8Array): void {
    const copy = Buffer.from(bytes);
    const { random } = this.process;
    const cut = random.below(PART_EVERY) === 0 ? random.below(copy.length + 1) : copy.length;
    for (const part of [copy.subarray(0, cut), copy.subarray(cut)])
      if (part.length > 0)
        this.#network.send(this.process, other.process, this.#lane, () => {
          if (!other.#isDestroyed) other.emit('data', part);
        });
  }

  #reset(): void {
    this.#isDestroyed = true;
    const other = this.#other;
    if (other !== undefined)
      this.#network.send(this.process, other.process, this.#lane, () => other.#ended());
  }

  #ended(): void {
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    if (this.process.random.chance(50)) this.emit('end');
    else this.emit('error', Object.assign(new Error('ECONNRESET'), { code: 'ECONNRESET' }));
    this.emit('close');
  }
}

export class VirtualServer extends EventEmitter {
  readonly #process: VirtualProcess;
  readonly #accepts: (socket: Socket) => void;
  #address: { readonly address: string; readonly port: number } | null = null;

  constructor(process: VirtualProcess, accepts: (socket: Socket) => void) {
    super();
    this.#process = process;
    this.#accepts = accepts;
  }

  listen({ port }: { readonly port: number }, listening: () => void): this {
    SERVERS.get(this.#process)!.set(port, this);
    this.#address = { address: this.#process.name, port };
    this.#process.turn(listening);
    return this;
  }

  address() {
    return this.#address;
  }

  accept(socket: VirtualSocket): void {
    this.#accepts(socket as unknown as Socket);
  }

  close(closed?: () => void): this {
    if (this.#address !== null) SERVERS.get(this.#process)!.delete(this.#address.port);
    this.#address = null;
    this.#process.turn(() => closed?.());
    return this;
  }
}

/** Connects as `connect` of `node:net` does. */
export function connectVirtually(
  process: VirtualProcess,
  { host, port }: { readonly host: string; readonly port: number },
): Socket {
  const socket = new VirtualSocket(process);
  const to = NETWORKS.get(process)!.find(host);
  socket.connects(to, port);
  return socket as unknown as Socket;
}
