// ServedEntities are the entities that one shard has open in this process, by the numbers that the shard has given them.
//
// Invariant: what a command has set aside becomes the state by `keep` alone, and is dropped by the next command.
import type { EmbeddedEntity } from '@svc/components/embedded-entity';
import type { EmbeddedGuest } from '@svc/components/embedded-guest';
import { GuestFault } from '@svc/model/guest-fault';
import { contextOf, effectFrame, refusalFrame } from '@svc/process-protocol/call-frames';
import { faultFrame } from '@svc/process-protocol/fault-frames';
import type {
  Command,
  FromProcessFrame,
  OpenEntity,
  Query,
  ToProcessFrame,
} from '@svc/process-protocol/process';

type FromFrame = NonNullable<FromProcessFrame['frame']>;
type EntityFrame = Extract<
  NonNullable<ToProcessFrame['frame']>,
  { $case: 'open' | 'apply' | 'command' | 'query' | 'keep' | 'snapshot' | 'close' }
>;

const DONE: FromFrame = { $case: 'done', value: {} };

export class ServedEntities {
  readonly #guest: EmbeddedGuest;
  readonly #send: (call: number, frame: FromFrame) => void;
  /** An entity that could not be opened is the fault of its calls. */
  readonly #open = new Map<number, EmbeddedEntity | GuestFault>();

  constructor(guest: EmbeddedGuest, send: (call: number, frame: FromFrame) => void) {
    this.#guest = guest;
    this.#send = send;
  }

  onFrame(call: number, number: number, frame: EntityFrame): void {
    switch (frame.$case) {
      case 'open':
        this.#answer(call, () => this.#opened(number, frame.value));
        return;
      case 'keep':
        this.#keep(number);
        return;
      case 'close':
        this.#close(number);
        return;
      case 'apply':
        this.#answer(call, () => {
          const problem = this.#entity(number).apply(frame.value.events);
          return problem === undefined ? DONE : { $case: 'problem', value: { message: problem } };
        });
        return;
      case 'command':
        this.#answer(call, () => commanded(this.#entity(number), frame.value));
        return;
      case 'query':
        this.#answer(call, () => queried(this.#entity(number), frame.value));
        return;
      case 'snapshot':
        this.#answer(call, () => ({
          $case: 'state',
          value: { json: this.#entity(number).snapshot() },
        }));
    }
  }

  close(): void {
    for (const number of this.#open.keys()) this.#close(number);
  }

  #opened(number: number, { component, id, snapshot }: OpenEntity): FromFrame {
    try {
      this.#open.set(number, this.#guest.entities.open({ component, id }, snapshot));
    } catch (fault) {
      if (fault instanceof GuestFault) this.#open.set(number, fault);
      throw fault;
    }
    return DONE;
  }

  /** Throws GuestFault. */
  #entity(number: number): EmbeddedEntity {
    const entity = this.#open.get(number);
    if (entity === undefined) throw new GuestFault('trap', 'a call of an entity that is not open');
    if (entity instanceof GuestFault) throw entity;
    return entity;
  }

  #keep(number: number): void {
    const entity = this.#open.get(number);
    if (entity === undefined || entity instanceof GuestFault || entity.keep()) return;
    this.#open.set(number, new GuestFault('trap', 'there was no state to keep'));
  }

  #close(number: number): void {
    const entity = this.#open.get(number);
    this.#open.delete(number);
    if (entity !== undefined && !(entity instanceof GuestFault)) entity.close();
  }

  /** Answers a call; `open` without a snapshot is none, so its fault is kept for the next call. */
  #answer(call: number, run: () => FromFrame): void {
    let answer: FromFrame;
    try {
      answer = run();
    } catch (error) {
      const fault = error instanceof GuestFault ? error : new GuestFault('trap', String(error));
      answer = { $case: 'fault', value: faultFrame(fault) };
    }
    if (call !== 0) this.#send(call, answer);
  }
}

function commanded(entity: EmbeddedEntity, { context, name, input }: Command): FromFrame {
  const given = contextOf(context);
  const decided = entity.command(given, name, input);
  if (decided.kind === 'refusal') return { $case: 'refusal', value: refusalFrame(decided) };
  const problem = decided.events.length === 0 ? undefined : entity.setAside(decided.events);
  const repliesLater = decided.reply === undefined && problem === undefined;
  const reply = repliesLater ? entity.reply(given, name).json : undefined;
  return { $case: 'effect', value: effectFrame(decided, { reply, problem }) };
}

function queried(entity: EmbeddedEntity, { context, name, input }: Query): FromFrame {
  const answer = entity.query(contextOf(context), name, input);
  return answer.kind === 'refusal'
    ? { $case: 'refusal', value: refusalFrame(answer) }
    : { $case: 'reply', value: { json: answer.json } };
}
