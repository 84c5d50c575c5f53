// What a command's events make of a state can be set aside, and kept or dropped afterwards.
import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { createEmbeddedGuest } from '../../components/embedded-guest.ts';
import { defineEntity } from '../../components/sdk.ts';
import { GuestFault } from '../../model/guest-fault.ts';
import { context } from '../suites/hosting-suite.ts';

const State = Type.Object({ names: Type.Array(Type.String()) });
type State = { names: string[] };

/** A list of names; `apply` returns the state after a name was added. */
const listOf = (apply: (state: State, name: string) => State) =>
  createEmbeddedGuest(
    {
      entities: [
        defineEntity({
          component: 'list',
          state: { manifest: 'list', schema: State },
          event: {
            manifest: 'list-event',
            schema: Type.Union([Type.Object({ type: Type.Literal('added'), name: Type.String() })]),
          },
          empty: () => ({ names: [] }),
          apply: (state, { name }) => apply(state, name),
          commands: {
            add: {
              input: Type.String(),
              reply: State,
              handle: (_state, name, { persist }) =>
                persist({ type: 'added', name }).thenReplyState(),
            },
          },
        }),
      ],
    },
    { freezesStates: true },
  ).entities.open({ component: 'list', id: 'l1' }, undefined);

const added = (list: ReturnType<typeof listOf>, name: string) => {
  const effect = list.command(context, 'add', JSON.stringify(name));
  if (effect.kind === 'refusal') throw new Error(effect.message);
  return effect.events;
};
const returning = (state: State, name: string) => ({ names: [...state.names, name] });

test('is the state once it is kept, and the reply is from it before', () => {
  const list = listOf(returning);
  expect(list.setAside(added(list, 'a'))).toBeUndefined();
  expect(list.reply(context, 'add').json).toBe('{"names":["a"]}');
  expect(list.snapshot()).toBe('{"names":[]}');
  expect(list.keep()).toBe(true);
  expect(list.snapshot()).toBe('{"names":["a"]}');
  expect(list.keep()).toBe(false);
});

test('is dropped by the next command', () => {
  const list = listOf(returning);
  list.setAside(added(list, 'a'));
  list.setAside(added(list, 'b'));
  list.keep();
  expect(list.snapshot()).toBe('{"names":["b"]}');
});

test('is nothing if an event does not decode', () => {
  const list = listOf(returning);
  expect(list.setAside([{ manifest: 'list-event', json: '{"type":"gone"}' }])).toContain('event 1');
  expect(list.keep()).toBe(false);
});

test('cannot be had from an apply that changes the state that it is given, which the fault says', () => {
  const list = listOf((state, name) => {
    state.names.push(name);
    return state;
  });
  const events = added(list, 'a');
  const fault = (() => {
    try {
      return list.setAside(events);
    } catch (error) {
      return error;
    }
  })();
  expect(fault).toBeInstanceOf(GuestFault);
  expect((fault as GuestFault).guestMessage).toContain('return a new one');
  expect(list.lost).toBe(true);
});

test('cannot be changed by a later event, also where the program has frozen a part of it', () => {
  const list = listOf((state, name) => {
    if (name === 'a') return Object.freeze({ names: ['a'] });
    state.names.push(name);
    return state;
  });
  list.setAside(added(list, 'a'));
  list.keep();
  expect(() => list.setAside(added(list, 'b'))).toThrow(GuestFault);
  expect(list.snapshot()).toBe('{"names":["a"]}');
});

test('is frozen once it is kept, however deep', () => {
  let before: State | undefined;
  const list = listOf((state, name) => {
    before = state;
    return returning(state, name);
  });
  list.setAside(added(list, 'a'));
  list.keep();
  list.setAside(added(list, 'b'));
  expect(Object.isFrozen(before) && Object.isFrozen(before!.names)).toBe(true);
});
