// VirtualChannel is a MessageChannel between two threads of one VirtualProcess. Messages arrive in their order, some turns later.
import { EventEmitter } from 'node:events';
import type { VirtualProcess } from './virtual-process.ts';

/** Longest time until a message has arrived, in milliseconds. */
const MESSAGE_MS = 0.2;

class VirtualPort extends EventEmitter {
  readonly #process: VirtualProcess;
  #other: VirtualPort | undefined;
  #arrivesMs = 0;
  #isClosed = false;

  constructor(process: VirtualProcess) {
    super();
    this.#process = process;
  }

  joins(other: VirtualPort): void {
    this.#other = other;
  }

  postMessage(message: unknown): void {
    const copy = structuredClone(message);
    this.#send(() => this.#other!.emit('message', copy));
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#send(() => {
      this.emit('close');
      this.#other!.ended();
    });
  }

  ended(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.emit('close');
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  #send(arrives: () => void): void {
    const process = this.#process;
    const { nowMs } = process.time;
    this.#arrivesMs = Math.max(this.#arrivesMs, nowMs + process.drawMs(MESSAGE_MS));
    process.arrives(this.#arrivesMs - nowMs, arrives);
  }
}

export class VirtualChannel {
  readonly port1: VirtualPort;
  readonly port2: VirtualPort;

  constructor(process: VirtualProcess) {
    this.port1 = new VirtualPort(process);
    this.port2 = new VirtualPort(process);
    this.port1.joins(this.port2);
    this.port2.joins(this.port1);
  }
}
