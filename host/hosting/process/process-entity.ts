// ProcessEntity: implements the engine's entity for one entity that a process has in memory. A command takes one round trip: with
// its effect the process says whether the events fold, and what the reply is after them.
//
// Invariants
// E1  What was set aside with an effect becomes the state only if the engine folds exactly its events, and no call but that of a snapshot comes
//     between.
// E2  After a fault, a call without an answer and the end of the stream the entity is lost.
import type { CallContext, Effect, Refusal, Reply, Spent } from '@svc/model/call';
import type { StoredEvent } from '@svc/model/entity';
import type { GuestEntity } from '@svc/model/guest';
import { GuestFault } from '@svc/model/guest-fault';
import { contextFrame, effectOf, refusalOf } from '@svc/process-protocol/call-frames';
import { faultOf } from '@svc/process-protocol/fault-frames';
import { ProtocolError } from '@svc/process-protocol/protocol-error';
import { type Answer, isAnswer } from './process-calls.ts';
import { lostInProcess, ProcessAway } from './process-failures.ts';
import type { ProcessSettings } from './process-settings.ts';
import type { ProcessStream, ToFrame } from './process-stream.ts';

/** The events that the process has set aside with its last effect. */
interface Aside {
  /** The events of the effect, as the engine has received them. */
  readonly events: readonly StoredEvent[];
  /** Why an event does not decode; empty: all do. */
  readonly problem: string;
}

/** Its time limit is no fault of the snapshot. */
const OPENING = 'opening an entity';
const OTHER_KIND = 'it has answered a call with a frame of another kind';

export class ProcessEntity implements GuestEntity {
  readonly #stream: ProcessStream;
  readonly #settings: ProcessSettings;
  readonly #component: string;
  readonly #number: number;
  #aside: Aside | undefined;
  /** Reply to the last command, from the state after its events; undefined: it has replied already. */
  #laterReply: string | undefined;
  #isLost = false;
  #isClosed = false;

  private constructor(stream: ProcessStream, settings: ProcessSettings, component: string) {
    this.#stream = stream;
    this.#settings = settings;
    this.#component = component;
    this.#number = stream.newEntity();
  }

  /** Opens an entity in its empty state. If that fails, its first call does. */
  static openEmpty(
    stream: ProcessStream,
    settings: ProcessSettings,
    { component, id, alone }: { component: string; id: string; alone: boolean },
  ): ProcessEntity {
    const entity = new ProcessEntity(stream, settings, component);
    const value = { component, id, alone, snapshot: undefined };
    stream.send(0, entity.#number, { $case: 'open', value });
    return entity;
  }

  /** Opens an entity in the state of a snapshot. Rejects with GuestFault and SVC_PROCESS_UNAVAILABLE. */
  static async openFrom(
    stream: ProcessStream,
    settings: ProcessSettings,
    value: { component: string; id: string; snapshot: string; alone: boolean },
  ): Promise<ProcessEntity> {
    const entity = new ProcessEntity(stream, settings, value.component);
    try {
      const opened = await entity.#call({ $case: 'open', value }, settings.foldTimeoutMs, OPENING);
      if (opened.$case !== 'done') throw entity.#violated(OTHER_KIND);
      return entity;
    } catch (error) {
      entity.close();
      throw error;
    }
  }

  get lost(): boolean {
    return this.#isLost || this.#stream.endedBy !== undefined;
  }

  apply(
    events: readonly StoredEvent[],
    _spent: Spent | undefined,
  ): string | undefined | Promise<string | undefined> {
    const aside = this.#aside;
    this.#aside = undefined;
    if (events.length === 0) return undefined;
    if (aside?.events !== events) return this.#fold(events);
    if (aside.problem !== '') return aside.problem;
    this.#stream.send(0, this.#number, { $case: 'keep', value: {} });
    return undefined;
  }

  async command(context: CallContext, name: string, input: string): Promise<Effect | Refusal> {
    this.#aside = undefined;
    this.#laterReply = undefined;
    const value = { context: contextFrame(context), name, input };
    const { commandTimeoutMs } = this.#settings;
    const answer = await this.#call(
      { $case: 'command', value },
      commandTimeoutMs,
      `command '${name}'`,
    );
    if (answer.$case === 'refusal') return this.#read(() => refusalOf(answer.value));
    if (answer.$case !== 'effect') throw this.#violated(OTHER_KIND);
    const effect = this.#read(() => effectOf(answer.value));
    const { repliesAfter, reply, problem } = answer.value;
    if (repliesAfter) this.#laterReply = reply;
    this.#aside = { events: effect.events, problem };
    return effect;
  }

  async query(context: CallContext, name: string, input: string): Promise<Reply | Refusal> {
    this.#aside = undefined;
    const value = { context: contextFrame(context), name, input };
    const { commandTimeoutMs } = this.#settings;
    const answer = await this.#call({ $case: 'query', value }, commandTimeoutMs, `query '${name}'`);
    if (answer.$case === 'refusal') return this.#read(() => refusalOf(answer.value));
    if (answer.$case !== 'reply') throw this.#violated(OTHER_KIND);
    return { kind: 'reply', json: answer.value.json };
  }

  reply(_context: CallContext, name: string): Reply {
    const json = this.#laterReply;
    this.#laterReply = undefined;
    if (json === undefined) throw this.#violated(`it gave no reply to the command '${name}'`);
    return { kind: 'reply', json };
  }

  async snapshot(): Promise<string> {
    const { foldTimeoutMs } = this.#settings;
    const answer = await this.#call({ $case: 'snapshot', value: {} }, foldTimeoutMs, 'the state');
    if (answer.$case !== 'state') throw this.#violated(OTHER_KIND);
    return answer.value.json;
  }

  /** May be called again. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stream.send(0, this.#number, { $case: 'close', value: {} });
  }

  async #fold(events: readonly StoredEvent[]): Promise<string | undefined> {
    const { foldTimeoutMs } = this.#settings;
    const answer = await this.#call({ $case: 'apply', value: { events } }, foldTimeoutMs, 'apply');
    if (answer.$case === 'problem') return answer.value.message;
    if (answer.$case !== 'done') throw this.#violated(OTHER_KIND);
    return undefined;
  }

  /** Calls the process. `what`: subject of the message of a fault. Rejects with GuestFault and SVC_PROCESS_UNAVAILABLE. */
  async #call(frame: ToFrame, timeoutMs: number, what: string): Promise<Answer> {
    const subject = `${what} of component '${this.#component}'`;
    const entity = this.#number;
    const answer = await this.#stream.call({ entity, frame, timeoutMs, subject }).answer;
    if (isAnswer(answer)) {
      if (answer.$case !== 'fault') return answer;
      this.#isLost = true;
      throw faultOf(answer.value);
    }
    this.#isLost = true;
    if (answer.$case === 'ended') throw lostInProcess(answer.why);
    const late = `did not return within ${timeoutMs} ms`;
    if (what === OPENING) throw new ProcessAway(`${late} from opening an entity`);
    throw new GuestFault('time', `${subject} ${late}`);
  }

  #read<Value>(read: () => Value): Value {
    try {
      return read();
    } catch (error) {
      if (error instanceof ProtocolError) throw this.#violated(error.message);
      throw error;
    }
  }

  #violated(problem: string): Error {
    this.#stream.violated(problem);
    return new ProcessAway(this.#stream.endedBy ?? problem);
  }
}
