// The table of ids is a Map to whoever uses it, also where ids meet in one number.
import { expect, test } from 'vitest';
import { IdTable } from '../../../../host/engine/entity/id-table.ts';

/** Two ids of one number, found by trying; `numberOf` is the table's own. */
function meetingIds(): readonly [string, string] {
  const seen = new Map<number, string>();
  for (let index = 0; ; index++) {
    const id = index.toString(36);
    let hash = id.length;
    for (const unit of id) hash = Math.imul(hash ^ unit.charCodeAt(0), 0x0100_0193);
    const other = seen.get(hash >>> 1);
    if (other !== undefined) return [other, id];
    seen.set(hash >>> 1, id);
  }
}

test('ids with the same hash are distinguished, and are removed one by one', () => {
  const [one, other] = meetingIds();
  const table = new IdTable<number>();
  table.set(one, 1);
  expect(table.get(other)).toBeUndefined();
  table.delete(other);
  expect(table.get(one)).toBe(1);
  table.set(other, 2);
  expect([table.get(one), table.get(other)]).toEqual([1, 2]);
  table.set(one, 3);
  table.delete(other);
  expect([table.get(one), table.get(other)]).toEqual([3, undefined]);
  table.delete(one);
  expect(table.get(one)).toBeUndefined();
});

test('does as a Map does, whatever is set and deleted', () => {
  const [one, other] = meetingIds();
  const table = new IdTable<number>();
  const model = new Map<string, number>();
  const ids = [
    one,
    other,
    '',
    'ü',
    'a'.repeat(256),
    ...Array.from({ length: 40 }, (_, n) => `c${n}`),
  ];
  let random = 1;
  for (let turn = 0; turn < 20_000; turn++) {
    random = (Math.imul(random, 1_103_515_245) + 12_345) >>> 0;
    const id = ids[(random >>> 8) % ids.length]!;
    if (random >>> 31 === 0) {
      table.set(id, turn);
      model.set(id, turn);
    } else {
      table.delete(id);
      model.delete(id);
    }
    for (const known of [id, one, other]) expect(table.get(known)).toBe(model.get(known));
  }
  expect(model.size).toBeGreaterThan(10);
  expect(new Set(table.values())).toEqual(new Set(model.values()));
});
