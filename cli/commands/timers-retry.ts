// svc timers retry: makes a dead timer in a journal fire again, through the host that runs on it if there is one.
import { command } from '../command.ts';
import { journalNote } from '../journal-word.ts';
import { changeTimer, OWNER_WORD } from '../timer-change.ts';

export const timersRetry = command(
  {
    name: 'timers retry',
    summary: 'let a dead timer fire again',
    about: `Makes a dead timer due at once, with all of its attempts. If svc run or svc dev serves the folder,
that host makes the change, and fires it. Otherwise the command takes the folder's lock, and the
timer fires when the service is started. In a database it makes the change itself, and services
that run fire the timer within about a second.`,
    words: [{ name: 'DIR', completes: { kind: 'folder' } }, OWNER_WORD, { name: 'NAME' }],
    options: {},
    notes: `${journalNote()}
OWNER is the entity that the timer belongs to, as COMPONENT/ID, or 'service' for a schedule of the
service. svc timers DIR --state dead lists the dead timers.`,
    examples: ['svc timers retry .svc/orders order/o1 expire'],
  },
  ([dir, owner, name]) =>
    changeTimer(
      'timers retry',
      { dir: dir!, owner: owner!, name: name! },
      { done: 'Due at once:', what: 'dead timer', kind: 'retry-timer' },
    ),
);
