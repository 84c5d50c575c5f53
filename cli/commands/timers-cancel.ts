// svc timers cancel: removes a timer from a journal, through the host that runs on it if there is one.
import { command } from '../command.ts';
import { journalNote } from '../journal-word.ts';
import { changeTimer, OWNER_WORD } from '../timer-change.ts';

export const timersCancel = command(
  {
    name: 'timers cancel',
    summary: 'cancel a timer',
    about: `Removes a timer from a journal, so that it never fires. If svc run or svc dev serves the folder,
that host makes the change. Otherwise the command takes the folder's lock. In a database it makes
the change itself, beside services that run.`,
    words: [{ name: 'DIR', completes: { kind: 'folder' } }, OWNER_WORD, { name: 'NAME' }],
    options: {},
    notes: `${journalNote()}
OWNER is the entity that the timer belongs to, as COMPONENT/ID, or 'service' for a schedule of the
service. The next start of the service sets its schedules again.`,
    examples: ['svc timers cancel .svc/orders order/o1 expire'],
  },
  ([dir, owner, name]) =>
    changeTimer(
      'timers cancel',
      { dir: dir!, owner: owner!, name: name! },
      { done: 'Cancelled', what: 'timer', kind: 'cancel-timer' },
    ),
);
