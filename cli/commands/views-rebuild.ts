// svc views rebuild: lets the rows of a view be built again from all events.
import { command } from '../command.ts';
import { changeService } from '../service-change.ts';

export const viewsRebuild = command(
  {
    name: 'views rebuild',
    summary: 'build the rows of a view again',
    about: `Removes the rows of a view, and builds them again from all events. A running service begins at
once; its queries of the view are refused until it is done. Otherwise the next start of the
service builds them. Events that were skipped stay skipped.`,
    words: [{ name: 'DIR', completes: { kind: 'folder' } }, { name: 'VIEW' }],
    options: {},
    examples: ['svc views rebuild .svc/orders orders'],
  },
  ([dir, view]) =>
    changeService(
      dir!,
      { kind: 'rebuild-view', view: view! },
      {
        done: `The rows of the view '${view}' are built again.`,
        doneWithoutHost: `The rows of the view '${view}' are built again at the next start.`,
        nothing: `The service has no view '${view}'. svc views DIR lists the views that it has.`,
      },
    ),
);
