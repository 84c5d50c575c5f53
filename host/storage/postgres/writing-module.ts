// WritingModule is the number of the module that writes the journal, in memory that the thread which opened the journal shares with
// those that write. Each record names its module by that number.
//
// Invariant: from the time at which a module is announced, nothing is written until it has its number.
import { SvcError } from '@svc/kit/svc-error';

const NEWEST_SQL = `SELECT fingerprint FROM svc.node WHERE lease_until > clock_timestamp()
  GROUP BY fingerprint ORDER BY min(number) DESC LIMIT 1`;

/** Reads the fingerprint of the newest module that nodes run: the one whose first node has joined last. */
export const NEWEST_MODULE = { text: NEWEST_SQL };

/** A module that another node runs keeps its number while nodes run a newer one, so that the last number stays that of the newest module. */
export const NOTE_MODULE = {
  text: `WITH last AS (SELECT number, fingerprint FROM svc.module ORDER BY number DESC LIMIT 1), noted AS (
      SELECT max(m.number) AS number FROM svc.module m
      WHERE m.fingerprint = $1 AND (m.number = (SELECT number FROM last) OR ($1 <> (${NEWEST_SQL}) AND EXISTS (
        SELECT FROM svc.node n WHERE n.fingerprint = $1 AND n.number <> $4 AND n.lease_until > clock_timestamp()
      )))
      HAVING count(*) > 0
    ), added AS (
      INSERT INTO svc.module (fingerprint, descriptor, time_ms)
      SELECT $1, $2, $3 WHERE NOT EXISTS (SELECT FROM noted) RETURNING number
    )
    SELECT number FROM added UNION ALL SELECT number FROM noted`,
};

/** The number while no module is noted. */
const NONE = 0;
/** The number while the database has not given one yet. */
const ANNOUNCED = -1;
/** For so long a number is waited for, in milliseconds. */
const WAIT_MS = 5_000;

export class WritingModule {
  readonly #number: Int32Array;

  /** `shared`: memory of another thread's WritingModule; without it, new memory is allocated. */
  constructor(shared = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.#number = new Int32Array(shared);
  }

  /** Memory to create another thread's WritingModule with. */
  get shared(): SharedArrayBuffer {
    return this.#number.buffer as SharedArrayBuffer;
  }

  /**
   * Returns the number once the module has one; undefined: no module writes. Rejects with SVC_JOURNAL_UNAVAILABLE if that takes too
   * long.
   */
  async number(waitMs = WAIT_MS): Promise<number | undefined> {
    if (Atomics.load(this.#number, 0) === ANNOUNCED)
      await Atomics.waitAsync(this.#number, 0, ANNOUNCED, waitMs).value;
    const number = Atomics.load(this.#number, 0);
    if (number === ANNOUNCED) throw notNoted();
    return number === NONE ? undefined : number;
  }

  /** Announces that another module writes from now on. */
  announce(): void {
    Atomics.store(this.#number, 0, ANNOUNCED);
  }

  /** Notes the number of the module that was announced. */
  note(number: number): void {
    Atomics.store(this.#number, 0, number);
    Atomics.notify(this.#number, 0);
  }
}

function notNoted(): SvcError {
  return new SvcError(
    'SVC_JOURNAL_UNAVAILABLE',
    'The write was not stored: the database has not noted yet which module writes. Try again.',
  );
}
