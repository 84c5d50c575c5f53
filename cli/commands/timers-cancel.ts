// svc timers cancel: removes a timer from a journal that no host uses.
import { command } from '../command.ts';
import { changeTimer, OWNER_WORD } from '../timer-change.ts';

export const timersCancel = command(
  {
    name: 'timers cancel',
    summary: 'cancel a timer',
    about: `Removes a timer from a journal, so that it never fires. Stop the service first: the command takes
the folder's lock, and changes nothing while a host has it.`,
    words: [{ name: 'DIR', completes: { kind: 'folder' } }, OWNER_WORD, { name: 'NAME' }],
    options: {},
    notes: `OWNER is the entity that the timer belongs to, as COMPONENT/ID, or 'service' for a schedule of the
service. The next start of the service sets its schedules again.`,
    examples: ['svc timers cancel .svc/orders order/o1 expire'],
  },
  ([dir, owner, name]) =>
    changeTimer(
      'timers cancel',
      { dir: dir!, owner: owner!, name: name! },
      {
        done: 'Cancelled',
        kind: 'timer',
        change: (timers, entity) => timers.cancelTimer(entity, name!),
      },
    ),
);
