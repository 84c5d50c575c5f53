// FakeHistory: entities and their histories as a service would send them: small ones, one with many events, a damaged
// one.
import type { EntityList, HistoryPage, HistoryStep, StateChange } from '@svc/contract';
import { TRACE } from './description.ts';

const LENGTHS: ReadonlyMap<string, number> = new Map([
  ['cart-7', 40],
  ['cart-busy', 1234],
  ['cart-broken', 12],
]);

export function entityList(
  component: string,
  { prefix, after, limit }: { prefix: string; after: string; limit: number },
): EntityList {
  const ids =
    component === 'customer'
      ? []
      : [
          ...LENGTHS.keys(),
          ...Array.from({ length: 140 }, (_, at) => `cart-${100 + at}`),
        ].toSorted();
  const fitting = ids.filter((id) => id.startsWith(prefix));
  const rest = fitting.filter((id) => id > after);
  const entities = rest.slice(0, limit).map((id, at) => ({
    id,
    events: LENGTHS.get(id) ?? 3,
    lastTime: new Date(Date.now() - at * 61_000).toISOString(),
    deleted: id.endsWith('9'),
  }));
  const next = rest.length > limit ? (entities.at(-1)?.id ?? null) : null;
  return { component, entities, total: fitting.length, totalCapped: false, next };
}

export function historyPage(
  component: string,
  id: string,
  from: number,
  limit: number,
): HistoryPage | undefined {
  if (!id.startsWith('cart-') || id === 'cart-9999') return undefined;
  const length = LENGTHS.get(id) ?? 3;
  const steps: HistoryStep[] = [];
  for (let seq = from; seq <= length && steps.length < limit; seq++)
    steps.push(step(id, seq, length));
  const next = from + limit <= length ? from + limit : null;
  return { component, id, steps, next, total: length };
}

interface Item {
  sku: string;
  quantity: number;
}

function itemsAfter(seq: number): Item[] {
  const items: Item[] = [];
  for (let one = 1; one <= seq; one++) {
    const sku = `A-${one % 6}`;
    const known = items.find((item) => item.sku === sku);
    if (known === undefined) items.push({ sku, quantity: 1 });
    else known.quantity++;
  }
  return items;
}

/** The numbers exceed the precision of a double, and must be displayed exactly. */
function stateText(seq: number): string {
  const items = itemsAfter(seq).map(
    ({ sku, quantity }) =>
      `{"sku":"${sku}","quantity":${quantity},"price":${quantity}.10,"note":null}`,
  );
  const customer =
    '{"name":"Ada <b>Lovelace</b>","address":{"street":"12 St James’s Square","city":"London"},"tags":["early","\\u001b[31mred"]}';
  return `{"id":"cart-7","customer":${customer},"items":[${items.join(',')}],"total":${total(seq)},"checkedOut":${seq > 38}}`;
}

const total = (seq: number) => `12345678901234567${String(seq).padStart(3, '0')}`;

function changesOf(seq: number): StateChange[] {
  const sku = `A-${seq % 6}`;
  const at = itemsAfter(seq).findIndex((item) => item.sku === sku);
  const changes: StateChange[] = [{ path: '$.total', before: total(seq - 1), after: total(seq) }];
  if (seq <= 6)
    changes.push({
      path: `$.items[${at}]`,
      before: null,
      after: `{"sku":"${sku}","quantity":1,"price":1.10,"note":null}`,
    });
  else {
    const { quantity } = itemsAfter(seq)[at]!;
    changes.push({
      path: `$.items[${at}].quantity`,
      before: String(quantity - 1),
      after: String(quantity),
    });
  }
  if (seq === 39) changes.push({ path: '$.checkedOut', before: 'false', after: 'true' });
  return changes;
}

function step(id: string, seq: number, last: number): HistoryStep {
  const isBroken = id === 'cart-broken' && seq >= 8;
  const isDamaged = id === 'cart-broken' && seq === 5;
  const isDeleted = id.endsWith('9') && seq === last;
  return {
    seq,
    kind: isDamaged ? 'damaged' : isDeleted ? 'deleted' : 'event',
    time: isDamaged ? null : new Date(Date.now() - (last - seq) * 47_000).toISOString(),
    manifest: isDamaged ? null : 'ShoppingCartEvent/2',
    type: isDamaged || isDeleted ? null : seq === 39 ? 'checked-out' : 'item-added',
    event:
      isDamaged || isDeleted
        ? null
        : `{"type":"item-added","sku":"A-${seq % 6}","quantity":1,"price":1.10}`,
    traceId: isDamaged ? null : TRACE,
    key: seq % 7 === 0 ? 'f3b1c0de-77aa-4c2f-9c1e-0a1b2c3d4e5f' : null,
    by: seq % 3 === 0 ? { issuer: 'https://login.example.com', subject: 'ada <b>\u202e' } : null,
    changes: isBroken || isDamaged || isDeleted ? [] : changesOf(seq),
    moreChanges: seq === 20 ? 27 : 0,
    state: isBroken || isDamaged || seq === 33 ? null : isDeleted ? '{}' : stateText(seq),
    stateCut: seq === 33,
    problem: isBroken
      ? "event 8 (item-added) trapped: abort: unknown sku 'A-2' at assembly/cart.ts:77:9"
      : null,
  };
}
