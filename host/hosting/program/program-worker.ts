// ProgramWorker is what the thread of a program runs (program-thread.ts): it loads the program's file, describes the
// components that the file exports, and then answers the calls of their entities and views.
import assert from 'node:assert/strict';
import { workerData } from 'node:worker_threads';
import { SvcError } from '@svc/kit/svc-error';
import type { Guest, GuestEntity } from '@svc/model/guest';
import { GuestFault } from '@svc/model/guest-fault';
import { createEmbeddedGuest } from '@svc/components/embedded-guest';
import { programFingerprint } from '@svc/components/program-fingerprint';
import { loadComponents } from './loaded-components.ts';
import { markLoading, STARTS_SERVICE } from './loading-mark.ts';
import {
  type EntityCall,
  type FromProgram,
  type ProgramWork,
  SIGNAL,
  type ToProgram,
  type ViewCall,
} from './program-messages.ts';
import { printOnStderr } from './program-output.ts';
import { lineOf } from '../stack-line.ts';
import { thrownLine } from './thrown-line.ts';

const { file, port, signal } = workerData as ProgramWork;
const mark = markLoading();
const flag = new Int32Array(signal);
const entities = new Map<number, GuestEntity>();
let uncaught: unknown;
let isLoaded = false;
/** True: the event loop is empty, so nothing can settle a top-level await of the program any more. */
let isIdle = false;

/** Posts a message and sets the signal. `value`: a value of SIGNAL. */
function send(message: FromProgram, value: number): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
  port.postMessage(message);
  Atomics.store(flag, 0, value);
  Atomics.notify(flag, 0);
}

printOnStderr();

/** Reports the end of the thread, whatever ends it, as long as code can still run in the thread. */
process.on('exit', (code) => send(endMessage(code), SIGNAL.ended));
process.on('beforeExit', () => (isIdle = true));
process.on('uncaughtException', (error) => {
  uncaught = error;
  process.exit(1);
});

function endMessage(code: number): FromProgram {
  if (!isLoaded && mark.hasStartedService)
    return { kind: 'refused', code: 'SVC_PROGRAM_INVALID', message: STARTS_SERVICE };
  if (uncaught !== undefined)
    return {
      kind: 'ended',
      problem: `threw an error that nobody caught (${thrownLine(uncaught)})`,
    };
  if (isIdle) return { kind: 'ended', problem: 'waited for something that never comes' };
  return { kind: 'ended', problem: `called process.exit(${code})` };
}

async function load(): Promise<void> {
  let guest: Guest;
  try {
    guest = createEmbeddedGuest(await loadComponents(file, mark));
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    const { code, message } = error;
    send({ kind: 'refused', code, message }, SIGNAL.answered);
    return;
  }
  isLoaded = true;
  port.on('message', (message: ToProgram) => onMessage(guest, message));
  const { descriptor } = guest;
  send({ kind: 'loaded', descriptor, fingerprint: programFingerprint(guest) }, SIGNAL.answered);
}

function onMessage(guest: Guest, message: ToProgram): void {
  if ('view' in message) {
    answer(calledView(guest, message.view, message.call));
    return;
  }
  const { entityNo, call } = message;
  if (call.kind === 'close') {
    entities.get(entityNo)?.close();
    entities.delete(entityNo);
    return;
  }
  answer(call.kind === 'open' ? open(guest, entityNo, call) : called(entityNo, call));
}

/** Sends what a call has returned, or its fault. */
function answer(result: Promise<unknown>): void {
  void result
    .then((value) => ({ kind: 'value', value }) as const, faultOf)
    .then((message) => send(message, SIGNAL.answered));
}

async function open(
  { entities: source }: Guest,
  entityNo: number,
  { entity, snapshot }: Extract<EntityCall, { kind: 'open' }>,
): Promise<void> {
  entities.set(entityNo, await source.open(entity, snapshot));
}

async function called(
  entityNo: number,
  call: Exclude<EntityCall, { kind: 'open' }>,
): Promise<unknown> {
  const entity = entities.get(entityNo);
  assert(entity !== undefined, 'a call of an entity that is not open');
  switch (call.kind) {
    case 'apply':
      return entity.apply(call.events, undefined);
    case 'command':
      return entity.command(call.context, call.name, call.input);
    case 'query': {
      const outcome = await entity.query(call.context, call.name, call.input);
      // A reply may make its text when it is read, which a copy of it cannot.
      return outcome.kind === 'reply' ? { kind: outcome.kind, json: outcome.json } : outcome;
    }
    case 'reply':
      return entity.reply(call.context, call.name);
    case 'snapshot':
      return entity.snapshot();
  }
}

async function calledView({ views }: Guest, view: string, call: ViewCall): Promise<unknown> {
  assert(views !== undefined, 'a call of a view of a program that has none');
  return call.kind === 'keys'
    ? views.keys(view, call.events)
    : views.fold(view, call.rows, call.events);
}

/** Returns the message for a fault of the program. Rethrows an error that is not a GuestFault. */
function faultOf(fault: unknown): FromProgram {
  if (!(fault instanceof GuestFault)) throw fault;
  const { faultCause, message, guestMessage } = fault;
  const words = guestMessage === undefined ? undefined : lineOf(guestMessage);
  return { kind: 'fault', faultCause, message, guestMessage: words };
}

void load();
