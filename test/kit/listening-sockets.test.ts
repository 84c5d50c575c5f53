// Sockets that a supervisor gives to a program: which process they are for, how many there are, and their names.
import { expect, test } from 'vitest';
import {
  listeningSockets,
  socketVariables,
  takeListeningSockets,
} from '../../kit/listening-sockets.ts';

test('sockets of this process and of the one that has started it are taken, in their order and with their names', () => {
  const variables = { LISTEN_PID: '7', LISTEN_FDS: '2', LISTEN_FDNAMES: 'https:http' };
  const sockets = [
    { fd: 3, name: 'https' },
    { fd: 4, name: 'http' },
  ];
  expect(listeningSockets(variables, [7])).toEqual(sockets);
  expect(listeningSockets(variables, [9, 7])).toEqual(sockets);
  expect(listeningSockets({ ...variables, LISTEN_FDNAMES: undefined }, [7])).toEqual(
    sockets.map(({ fd }) => ({ fd, name: '' })),
  );
});

test.each([
  ['of another process', { LISTEN_PID: '8', LISTEN_FDS: '1' }],
  ['without a process', { LISTEN_FDS: '1' }],
  ['without a number', { LISTEN_PID: '7' }],
  ['with a number that is none', { LISTEN_PID: '7', LISTEN_FDS: '-1' }],
  ['with a number that is too large', { LISTEN_PID: '7', LISTEN_FDS: '100' }],
])('variables %s give none', (_case, variables) => {
  expect(listeningSockets(variables, [7])).toEqual([]);
});

test('the variables for a child name its sockets and the process that gives them', () => {
  const variables = socketVariables(['https', 'http'], 7);
  expect(listeningSockets(variables, [9, 7])).toEqual([
    { fd: 3, name: 'https' },
    { fd: 4, name: 'http' },
  ]);
  expect(listeningSockets(socketVariables([], 7), [7])).toEqual([]);
});

test('sockets that are taken are gone from the environment, those of another process, too', () => {
  for (const [pid, count] of [
    [7, 1],
    [8, 0],
  ] as const) {
    const env = { PATH: '/bin', ...socketVariables(['http'], pid) };
    expect(takeListeningSockets(env, [7])).toHaveLength(count);
    expect(env).toEqual({ PATH: '/bin' });
  }
});
