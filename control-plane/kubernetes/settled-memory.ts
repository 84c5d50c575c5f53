// SettledMemory: what requests to the API server have found of services. It counts for as long as the objects that it rests on are as they were found.
//
// Invariants
// M1  What is remembered of a service ends with each change that leaves an object in another state than that in which it was found. A change that
//     arrives while the service is being asked for counts, too. So it does not matter whether an answer or the change that it reflects arrives first.
// M2  It ends after its time at the latest, whatever arrives.
// M3  `end` also keeps the requests that are under way from being remembered.
//
// There is one entry for each service that was found, and it is removed when it ends.
import type { ServiceKey } from '@svc/client';
import type { Clock } from '@svc/kit/clock';

/** States of objects by their paths. */
export type ObjectStates = ReadonlyMap<string, string>;

/** A change of an object. Without `service` it concerns every service of the project. */
export interface ChangedObject {
  readonly project: string;
  readonly service: string | undefined;
  readonly path: string;
  /** Undefined: the object does not exist any more. */
  readonly state: string | undefined;
}

interface Remembered<Value> {
  readonly value: Value;
  readonly states: ObjectStates;
  /** The end of its time, by the monotonic clock. */
  readonly untilMs: number;
}

/** A service that is being asked for. */
export interface Finding<Value> extends Disposable {
  /** Remembers the answer with the states of all objects that it rests on, unless one of them has changed since, or the memory was ended. */
  keep(value: Value, states: ObjectStates, lastsMs: number): void;
}

interface UnderWay {
  readonly changes: Map<string, string | undefined>;
  isEnded: boolean;
}

export class SettledMemory<Value> {
  readonly #clock: Clock;
  readonly #remembered = new Map<string, Remembered<Value>>();
  readonly #underWay = new Map<string, Set<UnderWay>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns what is remembered; undefined: the API server has to be asked. */
  get(key: ServiceKey): Value | undefined {
    const id = idOf(key);
    const found = this.#remembered.get(id);
    if (found === undefined || this.#clock.monotonicMs() < found.untilMs) return found?.value;
    this.#remembered.delete(id);
    return undefined;
  }

  /** Notes all changes from now on. To be called before the first request, and disposed of after the last one. */
  begin(key: ServiceKey): Finding<Value> {
    const id = idOf(key);
    const underWay: UnderWay = { changes: new Map(), isEnded: false };
    const all = this.#underWay.get(id) ?? new Set();
    this.#underWay.set(id, all.add(underWay));
    return {
      keep: (value, states, lastsMs) => {
        const isAsFound = [...underWay.changes].every(
          ([path, state]) => states.get(path) === state,
        );
        if (underWay.isEnded || !isAsFound) return;
        const untilMs = this.#clock.monotonicMs() + lastsMs;
        this.#remembered.set(id, { value, states, untilMs });
      },
      [Symbol.dispose]: () => {
        all.delete(underWay);
        if (all.size === 0 && this.#underWay.get(id) === all) this.#underWay.delete(id);
      },
    };
  }

  end(key: ServiceKey): void {
    const id = idOf(key);
    this.#remembered.delete(id);
    for (const underWay of this.#underWay.get(id) ?? []) underWay.isEnded = true;
  }

  changed({ project, service, path, state }: ChangedObject): void {
    if (service !== undefined) {
      this.#changed(idOf({ project, service }), path, state);
      return;
    }
    const ids = new Set([...this.#remembered.keys(), ...this.#underWay.keys()]);
    for (const id of ids) if (id.startsWith(`${project}/`)) this.#changed(id, path, state);
  }

  #changed(id: string, path: string, state: string | undefined): void {
    for (const { changes } of this.#underWay.get(id) ?? []) changes.set(path, state);
    const found = this.#remembered.get(id);
    if (found !== undefined && found.states.get(path) !== state) this.#remembered.delete(id);
  }
}

function idOf({ project, service }: ServiceKey): string {
  return `${project}/${service}`;
}
