// Histories: several random histories that share a control plane. In each, rounds of up to eight requests are sent at the same
// time, and the control plane is restarted or killed between the rounds of all.
import { type Arbitrary, array, constant, constantFrom, nat, oneof, record } from 'fast-check';
import type { Driver } from './driver.ts';
import { Explanation, type Observed } from './explanation.ts';
import { EMPTY } from './reference.ts';
import { BEGINNING, READS, anyRequest, type Request, type Round } from './requests.ts';

/** Requests at the same time; or the last request that was done, sent again with its key. */
export type Event = { readonly round: Round } | 'again';
export type History = readonly Event[];

const PARALLEL_MAX = 8;
const ROUNDS_MAX = 6;

export const histories = (count: number): Arbitrary<History[]> =>
  array(
    array(
      oneof(
        {
          weight: 5,
          arbitrary: record({
            round: oneof(
              array(anyRequest, { minLength: 1, maxLength: 1 }),
              array(anyRequest, { minLength: 2, maxLength: PARALLEL_MAX, size: 'max' }),
            ),
          }),
        },
        { weight: 1, arbitrary: constant('again' as const) },
      ),
      { minLength: 3, maxLength: ROUNDS_MAX, size: 'max' },
    ),
    { minLength: count, maxLength: count },
  );
/** What happens to the control plane between two rounds. */
export const incidents = array(
  record({ kind: constantFrom('none', 'none', 'none', 'restart', 'kill'), afterCalls: nat(12) }),
  { minLength: ROUNDS_MAX, maxLength: ROUNDS_MAX },
);
export type Incident = typeof incidents extends Arbitrary<infer Value> ? Value : never;

/** One history, and what is known of it. */
export class HistoryRun {
  readonly #driver: Driver;
  readonly #run: string;
  readonly #history: History;
  readonly #explanation = new Explanation(EMPTY);
  #sent = 0;
  #lastDone: { readonly request: Request; readonly key: string } | undefined;
  isUnsettled = false;

  constructor(driver: Driver, run: string, history: History) {
    this.#driver = driver;
    this.#run = run;
    this.#history = history;
  }

  async begin(): Promise<void> {
    for (const request of BEGINNING) await this.#send([request]);
  }

  /** Sends the requests of the round with this number, if the history has so many. */
  async round(index: number): Promise<void> {
    const event = this.#history[index];
    if (event === undefined) return;
    if (event !== 'again') await this.#send(event.round);
    else if (this.#lastDone !== undefined) await this.#sendAgain(this.#lastDone);
  }

  /** Reads everything, which has to agree with some order. */
  async end(): Promise<void> {
    // Who asks for their own memberships claims their invitations, which the other reads would meet half done.
    const [ofOwn, others] = [READS.filter(isOfOwn), READS.filter((each) => !isOfOwn(each))];
    for (const reads of [others, ofOwn]) {
      const answers = await Promise.all(reads.map((request) => this.#observe(request)));
      for (const observed of answers)
        this.#explanation.add({ observed: [observed], isUnsettled: this.isUnsettled });
    }
  }

  /** Fails unless every name is claimed by what exists, and by nothing else. */
  async settled(): Promise<void> {
    await this.#driver.expectSettled(this.#run);
  }

  async #send(round: Round): Promise<void> {
    const observed = await Promise.all(round.map((request) => this.#observe(request)));
    this.#explanation.add({ observed, isUnsettled: this.isUnsettled });
  }

  async #observe(request: Request): Promise<Observed> {
    const key = `${this.#run}-${this.#sent++}`;
    const answer = await this.#driver.send({ request, run: this.#run, idempotencyKey: key });
    const isWrite = !/^(get|list|who)/.test(request.route);
    if (isWrite && answer !== undefined && answer.status < 300) this.#lastDone = { request, key };
    return { request, answer };
  }

  /** A request that was done is judged anew, and then answered as the first time without doing anything. */
  async #sendAgain({ request, key }: { request: Request; key: string }): Promise<void> {
    const answer = await this.#driver.send({ request, run: this.#run, idempotencyKey: key });
    this.#explanation.addRepeated({ request, answer });
  }
}

function isOfOwn({ route }: Request): boolean {
  return route === 'whoami';
}
