// CartModel: what a service of shopping carts may hold and say, given how its callers' requests went. Each request
// that adds something adds an item of its own, so it is known by it.
//
// A service keeps to it when
//  1  an item whose request was answered is in the journal once; one whose request got no answer, once or not at all;
//     one whose request was refused, not at all
//  2  the items of a lane, whose requests were made one after the other, are there in that order
//  3  a removal and the deletion that it brings are stored together; as many as were answered, and at most so many
//     more as got no answer
//  4  a request that is repeated with its idempotency key is answered as it was the first time, and does nothing
import assert from 'node:assert/strict';
import type { JournalRecord } from '../../../model/entity.ts';

export interface CartRequest {
  readonly number: number;
  readonly cart: string;
  /** A lane makes one request after the other. A cart has several. */
  readonly lane: number;
  readonly kind: 'add' | 'remove';
  /** Its idempotency key, if it has one. */
  readonly key: string | undefined;
}

/** What an answer is: status and body. */
export type Answer = string;

interface Asked {
  readonly request: CartRequest;
  /** Undefined: it got none, or was not done. */
  answer: Answer | undefined;
  refused: boolean;
  /** Once it was asked and got no answer, so it may be done whatever is said later. */
  uncertain: boolean;
}

export function skuOf({ number }: CartRequest): string {
  return `item-${number}`;
}

export class CartModel {
  readonly #asked = new Map<number, Asked>();
  answered = 0;
  repeated = 0;

  sent(request: CartRequest): void {
    // A repeat is the same request.
    if (!this.#asked.has(request.number))
      this.#asked.set(request.number, {
        request,
        answer: undefined,
        refused: false,
        uncertain: false,
      });
  }

  /** Throws when it was answered before, and otherwise. */
  answeredWith({ number, key }: CartRequest, answer: Answer): void {
    const asked = this.#asked.get(number)!;
    if (asked.answer === undefined) this.answered++;
    else {
      this.repeated++;
      assert.equal(
        answer,
        asked.answer,
        `the repeat of request ${number} (${key}) has another answer`,
      );
    }
    asked.answer = answer;
  }

  /** Nothing was done, unless it was before. */
  refused({ number }: CartRequest): void {
    const asked = this.#asked.get(number)!;
    asked.refused = !asked.uncertain;
  }

  /** It got no answer, or one that says so: whether it was done is unknown. */
  uncertain({ number }: CartRequest): void {
    const asked = this.#asked.get(number)!;
    asked.uncertain = true;
    asked.refused = false;
  }

  /** Requests with a key: all that got no answer, and those that `chosen` picks of the others. */
  toRepeat(chosen: () => boolean): readonly CartRequest[] {
    return [...this.#asked.values()]
      .filter(
        ({ request, answer }) => request.key !== undefined && (answer === undefined || chosen()),
      )
      .map(({ request }) => request);
  }

  /** Throws when a cart's records break a rule. Answers the items that it holds. */
  check(cart: string, records: readonly JournalRecord[]): readonly string[] {
    const found = new Set<string>();
    const lanes = new Map<number, number>();
    let items: string[] = [];
    let removals = 0;
    let removing = false;
    for (const record of records) {
      assert.equal(removing, record.kind === 'deleted', `${cart}: half of a removal is stored`);
      removing = false;
      if (record.kind === 'deleted') {
        items = [];
        removals++;
        continue;
      }
      const event = JSON.parse(record.event.json) as { type: string; sku?: string };
      if (event.type === 'removed') {
        removing = true;
        continue;
      }
      const sku = event.sku!;
      const asked = this.#asked.get(Number(sku.slice('item-'.length)));
      assert(asked?.request.cart === cart, `${cart}: ${sku} is stored, and was never sent`);
      assert(!found.has(sku), `${cart}: ${sku} is stored twice`);
      assert(
        asked.answer !== undefined || !asked.refused,
        `${cart}: ${sku} is stored, and was refused`,
      );
      const { lane, number } = asked.request;
      assert(number > (lanes.get(lane) ?? 0), `${cart}: ${sku} is stored after a later one`);
      lanes.set(lane, number);
      found.add(sku);
      items.push(sku);
    }
    assert(!removing, `${cart}: half of a removal is stored`);
    this.#checkAnswered(cart, found, removals);
    return items;
  }

  #checkAnswered(cart: string, found: ReadonlySet<string>, removals: number): void {
    let removed = 0;
    let perhaps = 0;
    for (const { request, answer, refused } of this.#asked.values()) {
      if (request.cart !== cart) continue;
      if (request.kind === 'remove') {
        if (answer !== undefined) removed++;
        else if (!refused) perhaps++;
      } else if (answer !== undefined)
        assert(
          found.has(skuOf(request)),
          `${cart}: ${skuOf(request)} was acknowledged, and is lost`,
        );
    }
    assert(
      removals >= removed && removals <= removed + perhaps,
      `${cart}: ${removals} removals are stored, ${removed} were answered and ${perhaps} were not`,
    );
  }
}
