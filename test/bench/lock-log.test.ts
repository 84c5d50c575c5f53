// Waits for rows are found in the log of a PostgreSQL server, and no others.
import { expect, test } from 'vitest';
import { rowWaitsIn } from '../../bench/scale/lock-watch.ts';

const WAIT = '2026-01-02 03:04:05.678 UTC [123] node-1 LOG:  process 123 still waiting for';

test('lines of waits for rows are found among those of other locks', () => {
  const rows = [
    `${WAIT} ShareLock on transaction 756 after 1.041 ms`,
    `${WAIT} AccessExclusiveLock on tuple (0,1) of relation 16391 of database 16384 after 1.2 ms`,
    `${WAIT} ShareLock on speculative token 1 of transaction 756 after 1.0 ms`,
  ];
  const others = [
    `${WAIT} ExclusiveLock on extension of relation 16391 of database 16384 after 1.1 ms`,
    `${WAIT} AccessShareLock on relation 16391 of database 16384 after 1.1 ms`,
    '2026-01-02 03:04:05.678 UTC [123] node-1 LOG:  process 123 acquired ShareLock on transaction 756 after 2 ms',
    '2026-01-02 03:04:05.678 UTC [123] node-1 DETAIL:  Process holding the lock: 124. Wait queue: 123.',
  ];
  expect(rowWaitsIn([...others, ...rows, ''].join('\n'))).toEqual(rows);
});
