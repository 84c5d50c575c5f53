import { expect, test } from 'vitest';
import { type Idler, IdleList } from '../../../../host/engine/entity/idle-list.ts';

class Member implements Idler {
  readonly name: string;
  idleBefore: Idler | undefined = undefined;
  idleAfter: Idler | undefined = undefined;

  constructor(name: string) {
    this.name = name;
  }
}

/** Empties the list from its old end. */
function drain(list: IdleList<Member>): string {
  let names = '';
  for (let member = list.oldest; member !== undefined; member = list.oldest) {
    names += member.name;
    list.remove(member);
  }
  return names;
}

function filled(): { list: IdleList<Member>; a: Member; b: Member; c: Member } {
  const list = new IdleList<Member>();
  const [a, b, c] = [new Member('a'), new Member('b'), new Member('c')];
  for (const member of [a, b, c]) list.touch(member);
  return { list, a, b, c };
}

test('the member that was used longest ago is the oldest', () => {
  const { list } = filled();
  expect(list.size).toBe(3);
  expect(drain(list)).toBe('abc');
  expect(list.size).toBe(0);
});

test.each([
  ['a', 'bca'],
  ['b', 'acb'],
  ['c', 'abc'],
] as const)('using %s makes it the newest', (name, order) => {
  const { list, ...members } = filled();
  list.touch(members[name]);
  expect(list.size).toBe(3);
  expect(drain(list)).toBe(order);
});

test.each([
  ['a', 'bc'],
  ['b', 'ac'],
  ['c', 'ab'],
] as const)('%s can be taken out, also twice', (name, order) => {
  const { list, ...members } = filled();
  list.remove(members[name]);
  list.remove(members[name]);
  expect(list.size).toBe(2);
  expect(drain(list)).toBe(order);
});

test('taking out what was never in it changes nothing', () => {
  const { list } = filled();
  list.remove(new Member('x'));
  expect(drain(list)).toBe('abc');
  list.remove(new Member('x'));
  expect(list.size).toBe(0);
});
